package guest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

var background = context.Background()

func TestRefusesCallsBeforeHello(t *testing.T) {
	c := dialGuest(t, startGuest(t, func(int) bool { return true }))
	if _, err := c.SessionsClient.List(background, connect.NewRequest(&guestv1.ListRequest{})); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("List: %v", err)
	}
	if _, err := c.run(t, sh("early", "true")); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("Run: %v", err)
	}
}

// A process of the sandbox cannot speak for the daemon.
func TestN13AcceptsOnlyPeersFromOutside(t *testing.T) {
	asked := make(chan int, 8)
	c := dialGuest(t, startGuest(t, func(pid int) bool { asked <- pid; return false }))
	if _, err := c.Hello(background, connect.NewRequest(&guestv1.HelloRequest{})); err == nil {
		t.Errorf("got %v", err)
	}
	if pid := <-asked; pid != os.Getpid() {
		t.Errorf("peer %d, not %d", pid, os.Getpid())
	}
	if fromOutside(os.Getpid()) {
		t.Error("the test itself descends from PID 1")
	}
}

// E13, E15: output is bytes.
func TestKeepsOutputByteExact(t *testing.T) {
	c := newClient(t)
	r, err := c.run(t, sh("e13", `printf 'a\n\nb\r\n\n\tc'`))
	if err != nil || string(r.stdout) != "a\n\nb\r\n\n\tc" {
		t.Errorf("got %q, %v", r.stdout, err)
	}
	data := make([]byte, 1<<20)
	rand.Read(data)
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err = c.run(t, &guestv1.StartRequest{SessionId: "e15", Argv: []string{"cat", file}, Hold: true})
	if err != nil || !bytes.Equal(r.stdout, data) {
		t.Errorf("%d bytes of %d, %v", len(r.stdout), len(data), err)
	}
}

// E01: a reader that stalls gets all of it.
func TestHoldsTheProcessForASlowReader(t *testing.T) {
	c := newClient(t)
	req := sh("e01", "seq 1 5000000; echo END; exit 3")
	req.Hold = true
	stream, err := c.Run(background, connect.NewRequest(req))
	if err != nil {
		t.Fatal(err)
	}
	stream.Receive()
	time.Sleep(time.Second)
	s, _ := c.SessionsClient.Get(background, connect.NewRequest(&guestv1.GetRequest{SessionId: "e01"}))
	if s.Msg.GetEnd() != nil {
		t.Error("ended though nobody read")
	}
	r, err := collect(t, stream)
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.New()
	for i := 1; i <= 5000000; i++ {
		fmt.Fprintln(want, i)
	}
	fmt.Fprintln(want, "END")
	got := sha256.Sum256(r.stdout)
	if !bytes.Equal(got[:], want.Sum(nil)) || r.end.GetExitCode() != 3 {
		t.Errorf("%d bytes, end %v", len(r.stdout), r.end)
	}
}

func TestDropsOldOutputForAReaderThatDoesNotHold(t *testing.T) {
	c := newClient(t)
	if _, err := c.Start(background, connect.NewRequest(sh("drop", "seq 1 1000000"))); err != nil {
		t.Fatal(err)
	}
	s := waitForEnd(t, c, "drop")
	_, err := attach(t, c, "drop", 0)
	if code(err) != connect.CodeOutOfRange || !strings.Contains(err.Error(), fmt.Sprint(s.GetFirstSeq())) {
		t.Errorf("got %v, oldest is %d", err, s.GetFirstSeq())
	}
	r, err := attach(t, c, "drop", s.GetFirstSeq()-1)
	if err != nil || !bytes.HasSuffix(r.stdout, []byte("\n999999\n1000000\n")) {
		t.Errorf("tail %v", err)
	}
}

func TestReattachesWithoutGapOrRepeat(t *testing.T) {
	c := newClient(t)
	if _, err := c.Start(background, connect.NewRequest(sh("again", "for i in $(seq 1 300); do echo $i; sleep 0.002; done; exit 7"))); err != nil {
		t.Fatal(err)
	}
	all := &result{}
	for all.end == nil {
		ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
		stream, err := c.Attach(ctx, connect.NewRequest(&guestv1.AttachRequest{SessionId: "again", After: all.last}))
		for err == nil && stream.Receive() {
			all.take(t, stream.Msg())
		}
		cancel()
	}
	want := ""
	for i := 1; i <= 300; i++ {
		want += fmt.Sprintln(i)
	}
	if string(all.stdout) != want || all.end.GetExitCode() != 7 {
		t.Errorf("got %q", all.stdout)
	}
}

// A session that says nothing until it gets input is announced all the same: its reader gives no input before.
func TestAttachToASilentSessionAnnouncesIt(t *testing.T) {
	c := newClient(t)
	silent := sh("silent", "read line; echo got $line")
	silent.Stdin = true
	if _, err := c.Start(background, connect.NewRequest(silent)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	stream, err := c.Attach(ctx, connect.NewRequest(&guestv1.AttachRequest{SessionId: "silent"}))
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Receive() || stream.Msg().GetStarted().GetId() != "silent" {
		t.Fatalf("the first message is %v: %v", stream.Msg(), stream.Err())
	}
	if _, err := c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "silent", Data: []byte("it\n"), Eof: true})); err != nil {
		t.Fatal(err)
	}
	if all, err := collect(t, stream); err != nil || string(all.stdout) != "got it\n" {
		t.Errorf("got %v: %v", all, err)
	}
}

// E07: the end comes at once though a child holds the pipe, and the child lives on.
func TestEndsWithItsMainProcess(t *testing.T) {
	c := newClient(t)
	alive := filepath.Join(t.TempDir(), "alive")
	start := time.Now()
	r, err := c.run(t, sh("e07", fmt.Sprintf("(while :; do echo t || exit 1; date +%%s%%N > %s; sleep 0.05; done) & echo ok; echo $!", alive)))
	if err != nil || r.end.GetExitCode() != 0 || !bytes.Contains(r.stdout, []byte("ok\n")) {
		t.Fatalf("got %+v, %v", r, err)
	}
	// Its child never ends: whoever waited for that would wait for ever.
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	turns := map[string]bool{}
	for deadline := time.Now().Add(time.Minute); len(turns) < 3; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(alive); err == nil && len(text) > 0 {
			turns[string(text)] = true
		}
		if time.Now().After(deadline) {
			t.Fatal("the child has died or blocks")
		}
	}
	var child int
	fmt.Sscan(string(r.stdout[bytes.LastIndexByte(bytes.TrimSpace(r.stdout), '\n')+1:]), &child)
	if p, err := os.FindProcess(child); err == nil && child > 1 {
		_ = p.Kill()
	}
}

// E10: the end of input reaches the process and does not cut its output.
func TestEndsInputWithoutCuttingOutput(t *testing.T) {
	c := newClient(t)
	req := sh("e10", "cat; sleep 0.3; echo after")
	req.Stdin = true
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	write := func(offset uint64, data string, eof bool) uint64 {
		w, err := c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "e10", Offset: offset, Data: []byte(data), Eof: eof}))
		if err != nil {
			t.Fatal(err)
		}
		return w.Msg.GetOffset()
	}
	write(0, "hi\n", false)
	write(0, "hi\nyou", false) // a retry that knows more
	if n := write(6, "\n", true); n != 7 {
		t.Errorf("offset %d", n)
	}
	r, err := attach(t, c, "e10", 0)
	if err != nil || string(r.stdout) != "hi\nyou\nafter\n" {
		t.Errorf("got %q, %v", r.stdout, err)
	}
	_, err = c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "e10", Offset: 99, Data: []byte("x")}))
	if code(err) != connect.CodeInvalidArgument && code(err) != connect.CodeFailedPrecondition {
		t.Errorf("gap: %v", err)
	}
}

func TestTakesMuchInput(t *testing.T) {
	c := newClient(t)
	if _, err := c.Start(background, connect.NewRequest(&guestv1.StartRequest{SessionId: "sum", Argv: []string{"sha256sum"}, Stdin: true})); err != nil {
		t.Fatal(err)
	}
	chunk, sum := make([]byte, 256<<10), sha256.New()
	for i := range 200 {
		rand.Read(chunk)
		sum.Write(chunk)
		if _, err := c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "sum", Offset: uint64(i * len(chunk)), Data: chunk, Eof: i == 199})); err != nil {
			t.Fatal(err)
		}
	}
	r, err := attach(t, c, "sum", 0)
	if err != nil || string(r.stdout) != fmt.Sprintf("%x  -\n", sum.Sum(nil)) {
		t.Errorf("got %q, %v", r.stdout, err)
	}
}
