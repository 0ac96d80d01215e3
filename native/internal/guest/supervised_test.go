package guest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// marks reads the frames of a session up to the n-th mark, in the form that a client sees: output as it is, marks in brackets.
func (c *client) marks(t *testing.T, id string, after uint64, n int) (text string, last uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	stream, err := c.Attach(ctx, connect.NewRequest(&guestv1.AttachRequest{SessionId: id, After: after}))
	if err != nil {
		t.Fatal(err)
	}
	for n > 0 && stream.Receive() {
		output := stream.Msg().GetOutput()
		if output == nil {
			continue
		}
		if last != 0 && output.GetSeq() != last+1 {
			t.Errorf("frame %d after %d", output.GetSeq(), last)
		}
		last = output.GetSeq()
		if output.GetStream() == guestv1.Stream_STREAM_MARK {
			n--
			text += "[" + string(output.GetData()) + "]"
		} else {
			text += string(output.GetData())
		}
	}
	if n > 0 {
		t.Fatalf("%d marks are missing after %q: %v", n, text, stream.Err())
	}
	return text, last
}

func (c *client) await(t *testing.T, id string, attempt uint32) *guestv1.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	s, err := c.Await(ctx, connect.NewRequest(&guestv1.AwaitRequest{SessionId: id, Attempt: attempt}))
	if err != nil {
		t.Fatal(err)
	}
	return s.Msg
}

func TestSupervisedJournalGoesOnOverProcesses(t *testing.T) {
	c := newClient(t)
	req := sh("kept", "echo one; exit 3")
	req.Supervised = true
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	s := c.await(t, "kept", 1)
	if s.GetEnd() != nil || s.GetLastEnd().GetExitCode() != 3 || s.GetAttempt() != 1 {
		t.Errorf("after its process: %v", s)
	}
	// Whoever asks later is answered at once.
	c.await(t, "kept", 1)
	req = sh("kept", "echo two; sleep 600")
	req.Supervised = true
	started, err := c.Start(background, connect.NewRequest(req))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(background, connect.NewRequest(req)); code(err) != connect.CodeAlreadyExists {
		t.Errorf("started twice: %v", err)
	}
	if s := c.await(t, "kept", 1); s.GetAttempt() != 2 || s.GetLastEnd() != nil {
		t.Errorf("the second process: %v", s)
	}
	text, _ := c.marks(t, "kept", 0, 3)
	want := `[{"attempt":1,"pid":` + fmt.Sprint(s.GetPid()) + `,"end":null}]one
[{"attempt":1,"pid":null,"end":{"reason":"exited","exitCode":3,"signal":null,"oom":false}}][{"attempt":2,"pid":` + fmt.Sprint(started.Msg.GetSession().GetPid()) + `,"end":null}]`
	if text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if _, err := c.SessionsClient.Remove(background, connect.NewRequest(&guestv1.RemoveRequest{SessionId: "kept", Force: true})); err != nil {
		t.Fatal(err)
	}
}

// A restart that cannot begin leaves the session as it was.
func TestSupervisedKeepsItsPlaceWhenAStartFails(t *testing.T) {
	c := newClient(t)
	req := sh("place", "exit 1")
	req.Supervised = true
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	c.await(t, "place", 1)
	_, err := c.Start(background, connect.NewRequest(&guestv1.StartRequest{SessionId: "place", Argv: []string{"/nosuch"}, Supervised: true}))
	if err == nil {
		t.Fatal("started a program that is not there")
	}
	if s := c.await(t, "place", 1); s.GetAttempt() != 1 || s.GetLastEnd().GetExitCode() != 1 {
		t.Errorf("got %v", s)
	}
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Error(err)
	}
	c.await(t, "place", 2)
}

func TestSupervisedGoesOnFromAFormerRuntime(t *testing.T) {
	c := newClient(t)
	req := sh("moved", "echo new")
	req.Supervised, req.Attempt, req.After = true, 7, 12
	req.Journal = []*guestv1.Output{
		{Seq: 9, Stream: guestv1.Stream_STREAM_STDOUT, Data: []byte("not adjacent")},
		{Seq: 11, Stream: guestv1.Stream_STREAM_STDOUT, Data: []byte("old ")},
		{Seq: 12, Stream: guestv1.Stream_STREAM_STDOUT, Data: []byte("tail ")},
	}
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	text, last := c.marks(t, "moved", 10, 2)
	if !strings.HasPrefix(text, `old tail [{"attempt":7,"pid":`) || !strings.Contains(text, "new\n") || last < 14 {
		t.Errorf("got %q up to %d", text, last)
	}
	if _, err := attach(t, c, "moved", 9); code(err) != connect.CodeOutOfRange {
		t.Errorf("attached before what is kept: %v", err)
	}
}

// Y09: a paste that was cut in the middle is typed once, whoever else types meanwhile.
func TestY09TakesAClientsInputOnce(t *testing.T) {
	c := newClient(t)
	req := &guestv1.StartRequest{SessionId: "paste", Argv: []string{"cat"}, Stdin: true}
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	write := func(client string, offset uint64, data string, eof bool) uint64 {
		t.Helper()
		w, err := c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "paste", Client: client, Offset: offset, Data: []byte(data), Eof: eof}))
		if err != nil {
			t.Fatal(err)
		}
		return w.Msg.GetOffset()
	}
	if taken := write("a", 0, "hello ", false); taken != 6 {
		t.Errorf("taken %d", taken)
	}
	write("b", 0, "there ", false)
	if taken := write("a", 0, "", false); taken != 6 {
		t.Errorf("%d of a's bytes are said to be taken", taken)
	}
	write("a", 3, "lo world", false)
	write("b", 0, "there ", false)
	_, err := c.SessionsClient.Write(background, connect.NewRequest(&guestv1.WriteRequest{SessionId: "paste", Client: "a", Offset: 20, Data: []byte("x")}))
	if code(err) != connect.CodeInvalidArgument {
		t.Errorf("a gap was taken: %v", err)
	}
	write("a", 11, "!", true)
	r, err := attach(t, c, "paste", 0)
	if err != nil || string(r.stdout) != "hello there world!" {
		t.Errorf("got %q, %v", r.stdout, err)
	}
}

func TestForgetsAnEndedSessionAfterItsTime(t *testing.T) {
	c := newClient(t)
	req := sh("brief", "true")
	req.KeepMs = 1
	if _, err := c.Start(background, connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		_, err := c.SessionsClient.Get(background, connect.NewRequest(&guestv1.GetRequest{SessionId: "brief"}))
		if code(err) == connect.CodeNotFound {
			return
		}
		if time.Now().After(until) {
			t.Fatal("still there")
		}
	}
}
