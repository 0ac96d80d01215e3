package self

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"torpor.dev/torpor/native/internal/guest/identity"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/selfline"
)

func hello(origin string) identity.Hello {
	return &guestv1.HelloRequest{SandboxId: "sb_b", Name: "kid", Generation: 2, Origin: origin, ParentId: "sb_a", ForkIndex: 2, ForkCount: 3}
}

const described = `{"id":"sb_b","name":"kid","generation":2,"parent":"sb_a","forkIndex":2,"forkCount":3}`

func newTable() *Table { return NewTable(func() identity.Hello { return hello("boot") }) }

// ask sends a line as the command does, and gives the answer's line.
func ask(t *testing.T, path, line string) (net.Conn, <-chan selfline.Answer) {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
	answers := make(chan selfline.Answer, 1)
	go func() {
		text, _ := bufio.NewReader(conn).ReadBytes('\n')
		var answer selfline.Answer
		if json.Unmarshal(text, &answer) == nil {
			answers <- answer
		}
	}()
	return conn, answers
}

// daemon is a stream of requests, and the way to end it.
func daemon(t *testing.T, table *Table) (<-chan *guestv1.SelfRequest, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	requests, done := make(chan *guestv1.SelfRequest), make(chan error, 1)
	go func() {
		done <- table.Stream(ctx, func(r *guestv1.SelfRequest) error {
			select {
			case requests <- r:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return requests, func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func within[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s does not come", what)
		panic("")
	}
}

func TestARequestIsToldAgainUntilItIsAnswered(t *testing.T) {
	table, path := newTable(), filepath.Join(t.TempDir(), "self.sock")
	if err := table.Listen(path); err != nil {
		t.Fatal(err)
	}
	_, answers := ask(t, path, `{"verb":"fork","options":{"count":3}}`)
	requests, end := daemon(t, table)
	first := within(t, "the request", requests)
	if first.Verb != "fork" || first.Options != `{"count":3}` {
		t.Errorf("got %v", first)
	}
	end()
	requests, _ = daemon(t, table)
	if again := within(t, "the request", requests); again.Id != first.Id {
		t.Errorf("another id: %s, %s", again.Id, first.Id)
	}
	table.Answer(first.Id, []byte(`{"error":{"code":"name_taken","message":"taken"}}`))
	if answer := within(t, "the answer", answers); answer.Error == nil || answer.Error.Code != "name_taken" {
		t.Errorf("got %v", answer)
	}
	table.Answer(first.Id, []byte(`{}`))
	_, second := ask(t, path, `{"verb":"pause"}`)
	if next := within(t, "the next request", requests); next.Verb != "pause" {
		t.Errorf("an answered one came again: %v", next)
	}
	table.Restored(hello("resumed"))
	if answer := within(t, "the end of the pause", second); answer.Error != nil {
		t.Errorf("got %v", answer)
	}
}

func TestARestoreAnswersWhatItHasDone(t *testing.T) {
	for _, c := range []struct {
		verb, origin string
		delivered    bool
		answered     bool
	}{
		{"pause", "resumed", true, true},
		{"pause", "resumed", false, false}, // somebody else's pause: this one is still to come
		{"fork", "resumed", true, false},
		{"fork", "forked", true, true},
		{"pause", "forked", true, false},
		{"pause", "reconnected", true, false},
	} {
		table := newTable()
		answers := make(chan selfline.Answer, 1)
		go func() { answers <- table.Ask(context.Background(), selfline.Request{Verb: c.verb}) }()
		for len(table.waiting()) == 0 {
			time.Sleep(time.Millisecond)
		}
		if c.delivered {
			requests, end := daemon(t, table)
			within(t, "the request", requests)
			end()
		}
		table.Restored(hello(c.origin))
		if !c.answered {
			if len(table.waiting()) != 1 {
				t.Errorf("%v: it waits no more", c)
			}
			continue
		}
		if answer := within(t, "the answer", answers); string(answer.Result) != described {
			t.Errorf("%v: got %s", c, answer.Result)
		}
	}
}

func (t *Table) waiting() []*pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending
}

func TestWhoami(t *testing.T) {
	if answer := newTable().Ask(context.Background(), selfline.Request{Verb: "whoami"}); string(answer.Result) != described {
		t.Errorf("got %s", answer.Result)
	}
}

func TestAProcessThatLeavesTakesItsRequestBack(t *testing.T) {
	table, path := newTable(), filepath.Join(t.TempDir(), "self.sock")
	if err := table.Listen(path); err != nil {
		t.Fatal(err)
	}
	requests, _ := daemon(t, table)
	conn, _ := ask(t, path, `{"verb":"pause"}`)
	within(t, "the request", requests)
	conn.Close()
	for limit := time.Now().Add(time.Minute); len(table.waiting()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the request stays")
		}
	}
}

func TestRefusesNonsenseAndTooMuch(t *testing.T) {
	table, path := newTable(), filepath.Join(t.TempDir(), "self.sock")
	if err := table.Listen(path); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"", "{", `{"options":{}}`, `[1]`} {
		_, answers := ask(t, path, line)
		if answer := within(t, "the answer", answers); answer.Error == nil || answer.Error.Code != "invalid_request" {
			t.Errorf("%q: got %v", line, answer)
		}
	}
	for range maxPending {
		ask(t, path, `{"verb":"pause"}`)
	}
	for len(table.waiting()) < maxPending {
		time.Sleep(time.Millisecond)
	}
	_, answers := ask(t, path, `{"verb":"pause"}`)
	if answer := within(t, "the answer", answers); answer.Error == nil || answer.Error.Code != "too_many_sessions" {
		t.Errorf("got %v", answer)
	}
}
