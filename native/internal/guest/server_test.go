package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/guest/identity"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/protocol/torpor/guest/v1/guestv1connect"
)

// client is one connection to a guest under test.
type client struct {
	guestv1connect.GuestClient
	guestv1connect.SessionsClient
	guestv1connect.FilesClient
	guestv1connect.PortsClient
	transport *http.Transport
}

// A process has one reaper, so all tests share one guest.
var sharedGuest = sync.OnceValue(func() *guestService { return newGuestService(func() {}) })

func startGuest(t *testing.T, allowed func(pid int) bool) (socket string) {
	t.Helper()
	dir := t.TempDir()
	shared := sharedGuest()
	shared.files = identity.Files{Hostname: filepath.Join(dir, "hostname"), Hosts: filepath.Join(dir, "hosts"), Identity: filepath.Join(dir, "identity.json")}
	socket = filepath.Join(dir, "run", "guest.sock")
	l, err := listen(socket, allowed)
	if err != nil {
		t.Fatal(err)
	}
	go shared.serve(l)
	t.Cleanup(func() { l.Close() })
	return socket
}

func dialGuest(t *testing.T, socket string) *client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	h := &http.Client{Transport: transport}
	return &client{guestv1connect.NewGuestClient(h, "http://guest"), guestv1connect.NewSessionsClient(h, "http://guest"), guestv1connect.NewFilesClient(h, "http://guest"), guestv1connect.NewPortsClient(h, "http://guest"), transport}
}

var generation uint64

func newClient(t *testing.T) *client {
	t.Helper()
	c := dialGuest(t, startGuest(t, func(int) bool { return true }))
	generation++
	_, err := c.Hello(context.Background(), connect.NewRequest(&guestv1.HelloRequest{SandboxId: "sb", Name: "box", Generation: generation, Env: map[string]string{"GREETING": "hi"}}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// result is all that a Run gave.
type result struct {
	started        *guestv1.Session
	stdout, stderr []byte
	terminal       []byte
	end            *guestv1.End
	last           uint64
}

func (c *client) run(t *testing.T, req *guestv1.StartRequest) (*result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	stream, err := c.Run(ctx, connect.NewRequest(req))
	if err != nil {
		return nil, err
	}
	return collect(t, stream)
}

func collect(t *testing.T, stream *connect.ServerStreamForClient[guestv1.AttachResponse]) (*result, error) {
	t.Helper()
	defer stream.Close()
	r := &result{}
	for stream.Receive() {
		r.take(t, stream.Msg())
	}
	return r, stream.Err()
}

func (r *result) take(t *testing.T, m *guestv1.AttachResponse) {
	t.Helper()
	if r.end != nil {
		t.Errorf("a message after the end: %v", m)
	}
	switch e := m.Event.(type) {
	case *guestv1.AttachResponse_Started:
		r.started = e.Started
	case *guestv1.AttachResponse_Output:
		if r.last != 0 && e.Output.Seq != r.last+1 {
			t.Errorf("frame %d after %d", e.Output.Seq, r.last)
		}
		r.last = e.Output.Seq
		switch e.Output.Stream {
		case guestv1.Stream_STREAM_STDOUT:
			r.stdout = append(r.stdout, e.Output.Data...)
		case guestv1.Stream_STREAM_STDERR:
			r.stderr = append(r.stderr, e.Output.Data...)
		case guestv1.Stream_STREAM_TERMINAL:
			r.terminal = append(r.terminal, e.Output.Data...)
		}
	case *guestv1.AttachResponse_End:
		r.end = e.End
	}
}

func code(err error) connect.Code {
	if err == nil {
		return 0
	}
	return connect.CodeOf(err)
}

func exitCodeOf(t *testing.T, err error) uint32 {
	t.Helper()
	var failed *connect.Error
	if !errors.As(err, &failed) {
		t.Fatalf("not refused: %v", err)
	}
	for _, d := range failed.Details() {
		if v, err := d.Value(); err == nil {
			if s, ok := v.(*guestv1.SessionError); ok {
				return s.GetExitCode()
			}
		}
	}
	t.Fatalf("no SessionError in %v", err)
	return 0
}

func sh(id, script string) *guestv1.StartRequest {
	return &guestv1.StartRequest{SessionId: id, Argv: []string{"sh", "-c", script}}
}

func TestRunsACommand(t *testing.T) {
	c := newClient(t)
	r, err := c.run(t, sh("t1", "echo $GREETING $TORPOR_SANDBOX_ID $TORPOR_SANDBOX_NAME; echo bad >&2; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	if r.started.GetPid() == 0 || string(r.stdout) != "hi sb box\n" || string(r.stderr) != "bad\n" || r.end.GetExitCode() != 3 {
		t.Errorf("got %+v", r)
	}
	if r.end.GetReason() != guestv1.EndReason_END_REASON_EXITED {
		t.Errorf("reason %v", r.end.GetReason())
	}
}

func TestATerminalSpeaksUtf8UnlessItIsToldOtherwise(t *testing.T) {
	c := newClient(t)
	for i, one := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "C.UTF-8"},
		{map[string]string{"LANG": "de_DE.UTF-8"}, "de_DE.UTF-8"},
		{map[string]string{"LANG": ""}, ""},
		{map[string]string{"LC_ALL": "C"}, ""},
	} {
		req := sh(fmt.Sprintf("lang%d", i), "echo [$LANG]")
		req.Terminal = &guestv1.Terminal{Rows: 24, Columns: 80}
		req.Env = one.env
		r, err := c.run(t, req)
		if err != nil {
			t.Fatal(err)
		}
		if string(r.terminal) != "["+one.want+"]\r\n" {
			t.Errorf("%v: got %q", one.env, r.terminal)
		}
	}
	r, err := c.run(t, sh("lang-pipes", "echo [$LANG]"))
	if err != nil || string(r.stdout) != "[]\n" {
		t.Errorf("through pipes: got %q %v", r.stdout, err)
	}
}

func TestGivesTheSizeOfATerminalFromTheStart(t *testing.T) {
	c := newClient(t)
	req := sh("t2", "stty size; tty; echo $TERM")
	req.Terminal = &guestv1.Terminal{Rows: 40, Columns: 120, Term: "screen"}
	r, err := c.run(t, req)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(r.terminal, []byte("40 120\r\n/dev/pts/")) || !bytes.HasSuffix(r.terminal, []byte("screen\r\n")) {
		t.Errorf("got %q", r.terminal)
	}
}
