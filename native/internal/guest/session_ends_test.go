package guest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// E16: what cannot be started has a shell's code and a message that names it.
func TestRefusesWhatCannotBeStarted(t *testing.T) {
	c := newClient(t)
	plain := filepath.Join(t.TempDir(), "plain")
	script := filepath.Join(t.TempDir(), "script")
	_ = os.WriteFile(plain, []byte("x"), 0o644)
	_ = os.WriteFile(script, []byte("\x01\x02\x03"), 0o755)
	for i, x := range []struct {
		argv []string
		exit uint32
		code connect.Code
		name string
	}{
		{[]string{"nosuch"}, 127, connect.CodeNotFound, "nosuch"},
		{[]string{"/nosuch/x"}, 127, connect.CodeNotFound, "/nosuch/x"},
		{[]string{plain}, 126, connect.CodePermissionDenied, plain},
		{[]string{script}, 126, connect.CodeFailedPrecondition, script},
		{[]string{"/tmp"}, 126, connect.CodeFailedPrecondition, "/tmp"},
		{[]string{""}, 127, connect.CodeNotFound, "empty"},
		{nil, 127, connect.CodeInvalidArgument, "no program"},
	} {
		_, err := c.run(t, &guestv1.StartRequest{SessionId: fmt.Sprint("e16-", i), Argv: x.argv})
		if code(err) != x.code || !strings.Contains(err.Error(), x.name) || exitCodeOf(t, err) != x.exit {
			t.Errorf("%q: %v", x.argv, err)
		}
		if _, err := c.SessionsClient.Get(background, connect.NewRequest(&guestv1.GetRequest{SessionId: fmt.Sprint("e16-", i)})); code(err) != connect.CodeNotFound {
			t.Errorf("%q is kept", x.argv)
		}
	}
}

// E18: deaths by signal.
func TestTellsDeathsBySignal(t *testing.T) {
	c := newClient(t)
	for signal, name := range map[int]string{9: "SIGKILL", 15: "SIGTERM", 11: "SIGSEGV", 6: "SIGABRT"} {
		r, err := c.run(t, sh(name, fmt.Sprintf("kill -%d $$", signal)))
		if err != nil || r.end.GetExitCode() != uint32(128+signal) || r.end.GetSignal() != name || r.end.GetReason() != guestv1.EndReason_END_REASON_EXITED {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// E21: a working directory that is not there.
func TestNamesAMissingWorkingDirectory(t *testing.T) {
	c := newClient(t)
	req := sh("e21", "pwd")
	req.Workdir = "/nope2"
	if _, err := c.run(t, req); code(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "/nope2") || exitCodeOf(t, err) != 126 {
		t.Errorf("got %v", err)
	}
	own := filepath.Join(t.TempDir(), "made", "here")
	generation++
	if _, err := c.Hello(background, connect.NewRequest(&guestv1.HelloRequest{Generation: generation, Workdir: own})); err != nil {
		t.Fatal(err)
	}
	r, err := c.run(t, sh("e21b", "pwd"))
	if err != nil || string(r.stdout) != own+"\n" {
		t.Errorf("got %q, %v", r.stdout, err)
	}
}

func TestSignalsTheGroup(t *testing.T) {
	c := newClient(t)
	if _, err := c.Start(background, connect.NewRequest(sh("group", "sleep 600 & sleep 600"))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Signal(background, connect.NewRequest(&guestv1.SignalRequest{SessionId: "group", Signal: "TERM"})); err != nil {
		t.Fatal(err)
	}
	s := waitForEnd(t, c, "group")
	if s.GetEnd().GetExitCode() != 143 || s.GetEnd().GetReason() != guestv1.EndReason_END_REASON_KILLED {
		t.Errorf("end %v", s.GetEnd())
	}
	if _, err := c.Signal(background, connect.NewRequest(&guestv1.SignalRequest{SessionId: "group", Signal: "9"})); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("after the end: %v", err)
	}
	if _, err := c.Signal(background, connect.NewRequest(&guestv1.SignalRequest{SessionId: "group", Signal: "NOPE"})); code(err) != connect.CodeInvalidArgument {
		t.Errorf("no such signal: %v", err)
	}
}

func TestEndsASessionAtItsTimeout(t *testing.T) {
	c := newClient(t)
	req := sh("timeout", "sleep 600")
	req.TimeoutMs = 200
	r, err := c.run(t, req)
	if err != nil || r.end.GetReason() != guestv1.EndReason_END_REASON_TIMEOUT || r.end.GetExitCode() != 143 {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestRemovesSessions(t *testing.T) {
	c := newClient(t)
	if _, err := c.Start(background, connect.NewRequest(sh("rm", "trap '' TERM HUP; sleep 600"))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(background, connect.NewRequest(sh("rm", "true"))); code(err) != connect.CodeAlreadyExists {
		t.Errorf("same id: %v", err)
	}
	remove := func(force bool) error {
		_, err := c.SessionsClient.Remove(background, connect.NewRequest(&guestv1.RemoveRequest{SessionId: "rm", Force: force}))
		return err
	}
	if err := remove(false); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("running: %v", err)
	}
	if err := remove(true); err != nil {
		t.Errorf("forced: %v", err)
	}
	if err := remove(true); code(err) != connect.CodeNotFound {
		t.Errorf("again: %v", err)
	}
}

func TestRefusesSessionsWhileFreezing(t *testing.T) {
	c := newClient(t)
	if _, err := c.Prepare(background, connect.NewRequest(&guestv1.PrepareRequest{})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(t, sh("frozen", "true")); code(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "freezing") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Release(background, connect.NewRequest(&guestv1.ReleaseRequest{})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(t, sh("thawed", "true")); err != nil {
		t.Error(err)
	}
}

// What has ended before a stop keeps its reason; what ends after the announcement ended with the sandbox, by itself too.
func TestEndsOfAStop(t *testing.T) {
	c := newClient(t)
	before := sh("stop-before", "exit 3")
	after := sh("stop-after", "trap 'exit 4' TERM; echo ready; while :; do sleep 0.1; done")
	spared := sh("stop-spared", "exec sleep 600")
	kept := sh("stop-kept", "echo ready; exec sleep 600")
	kept.Supervised = true
	for _, req := range []*guestv1.StartRequest{before, after, spared, kept} {
		if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
			t.Fatal(err)
		}
	}
	waitForEnd(t, c, "stop-before")
	waitUntil(t, c, "stop-after", func(s *guestv1.Session) bool { return s.GetLastSeq() > 0 })
	if _, err := c.Prepare(background, connect.NewRequest(&guestv1.PrepareRequest{Stop: true})); err != nil {
		t.Fatal(err)
	}
	release := func() { _, _ = c.Release(background, connect.NewRequest(&guestv1.ReleaseRequest{})) }
	t.Cleanup(release)
	if _, err := c.run(t, sh("stop-new", "true")); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("a new one: %v", err)
	}
	for _, id := range []string{"stop-after", "stop-kept"} {
		if _, err := c.Signal(background, connect.NewRequest(&guestv1.SignalRequest{SessionId: id, Signal: "TERM"})); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]struct {
		reason guestv1.EndReason
		code   uint32
	}{
		"stop-before": {guestv1.EndReason_END_REASON_EXITED, 3},
		"stop-after":  {guestv1.EndReason_END_REASON_STOPPED, 4},
	} {
		if end := waitForEnd(t, c, id).GetEnd(); end.GetReason() != want.reason || end.GetExitCode() != want.code {
			t.Errorf("%s: %v", id, end)
		}
	}
	if end := c.await(t, "stop-kept", 1).GetLastEnd(); end.GetReason() != guestv1.EndReason_END_REASON_STOPPED || end.GetSignal() != "SIGTERM" {
		t.Errorf("supervised: %v", end)
	}
	if text, _ := c.marks(t, "stop-kept", 0, 2); !strings.HasSuffix(text, `"end":{"reason":"stopped","exitCode":143,"signal":"SIGTERM","oom":false}}]`) {
		t.Errorf("its journal: %q", text)
	}
	release()
	if end, err := c.Signal(background, connect.NewRequest(&guestv1.SignalRequest{SessionId: "stop-spared", Signal: "TERM"})); err != nil {
		t.Fatal(end, err)
	}
	if end := waitForEnd(t, c, "stop-spared").GetEnd(); end.GetReason() != guestv1.EndReason_END_REASON_KILLED {
		t.Errorf("after a stop that was given up: %v", end)
	}
}

func TestTerminalInputResizeAndEnd(t *testing.T) {
	c := newClient(t)
	req := sh("tty", "stty -echo; echo ready; read a; stty size; cat; echo \"[$a]\"; exit 5")
	req.Terminal = &guestv1.Terminal{Rows: 10, Columns: 20}
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Attach(background, connect.NewRequest(&guestv1.AttachRequest{SessionId: "tty"}))
	if err != nil {
		t.Fatal(err)
	}
	r := &result{}
	for !bytes.Contains(r.terminal, []byte("ready")) && stream.Receive() {
		r.take(t, stream.Msg())
	}
	if _, err := c.Resize(background, connect.NewRequest(&guestv1.ResizeRequest{SessionId: "tty", Rows: 33, Columns: 44})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "tty", Data: []byte("line\nmore\n"), Eof: true})); err != nil {
		t.Fatal(err)
	}
	for stream.Receive() {
		r.take(t, stream.Msg())
	}
	if string(r.terminal) != "ready\r\n33 44\r\nmore\r\n[line]\r\n" || r.end.GetExitCode() != 5 {
		t.Errorf("got %q, %v", r.terminal, r.end)
	}
}

// E04, D16: short commands lose nothing and leave nothing.
func TestLeavesNothingBehind(t *testing.T) {
	c := newClient(t)
	once := func(i int) {
		req := sh(fmt.Sprint("d16-", i), "echo x")
		if i%3 == 0 {
			req.Terminal = &guestv1.Terminal{}
		}
		r, err := c.run(t, req)
		if err != nil || strings.TrimSpace(string(r.stdout)+string(r.terminal)) != "x" || r.end.GetExitCode() != 0 {
			t.Fatalf("%d: %+v, %v", i, r, err)
		}
	}
	once(0)
	fds, routines := openFiles(t), runtime.NumGoroutine()
	for i := 1; i < 300; i++ {
		once(i)
	}
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) && (openFiles(t) > fds || runtime.NumGoroutine() > routines) {
		time.Sleep(20 * time.Millisecond)
	}
	if now := openFiles(t); now > fds+3 {
		t.Errorf("%d open files, were %d", now, fds)
	}
	if now := runtime.NumGoroutine(); now > routines+3 {
		t.Errorf("%d goroutines, were %d", now, routines)
	}
	l, _ := c.SessionsClient.List(background, connect.NewRequest(&guestv1.ListRequest{}))
	if n := len(l.Msg.GetSessions()); n > 70 {
		t.Errorf("%d sessions are kept", n)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func attach(t *testing.T, c *client, id string, after uint64) (*result, error) {
	t.Helper()
	stream, err := c.Attach(background, connect.NewRequest(&guestv1.AttachRequest{SessionId: id, After: after, Hold: true}))
	if err != nil {
		return nil, err
	}
	return collect(t, stream)
}

func waitForEnd(t *testing.T, c *client, id string) *guestv1.Session {
	t.Helper()
	return waitUntil(t, c, id, func(s *guestv1.Session) bool { return s.GetEnd() != nil })
}

func waitUntil(t *testing.T, c *client, id string, holds func(*guestv1.Session) bool) *guestv1.Session {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s, err := c.SessionsClient.Get(background, connect.NewRequest(&guestv1.GetRequest{SessionId: id}))
		if err != nil {
			t.Fatal(err)
		}
		if holds(s.Msg) {
			return s.Msg
		}
	}
	t.Fatalf("%s does not come to what is waited for", id)
	return nil
}
