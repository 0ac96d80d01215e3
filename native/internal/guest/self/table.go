// Package self takes what processes of the sandbox ask about their own sandbox, and keeps it until it is answered.
package self

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"

	"torpor.dev/torpor/native/internal/guest/identity"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/selfline"
)

// maxPending is more than any program needs; what lies here is part of every checkpoint.
const maxPending = 64

// Table has the requests that wait. It lives in memory, so that it is there again after a resume, and in each child of a fork.
type Table struct {
	identity func() identity.Hello

	mu      sync.Mutex
	pending []*pending
	changed chan struct{} // closed and replaced when one comes
}

type pending struct {
	id        string
	request   selfline.Request
	delivered bool                 // a daemon has it
	answer    chan selfline.Answer // one, once
}

// NewTable makes an empty one. identity is what the daemon said last.
func NewTable(identity func() identity.Hello) *Table {
	return &Table{identity: identity, changed: make(chan struct{})}
}

// Ask waits for the answer. Whoever stops waiting takes the request back, as far as the daemon has not begun.
func (t *Table) Ask(ctx context.Context, request selfline.Request) selfline.Answer {
	if request.Verb == "whoami" {
		return selfline.Answer{Result: identity.Describe(t.identity())}
	}
	p := &pending{id: rand.Text(), request: request, answer: make(chan selfline.Answer, 1)}
	if !t.add(p) {
		return selfline.Failed("too_many_sessions", "too many requests of this sandbox wait for their answers: try again")
	}
	defer t.take(p.id)
	select {
	case answer := <-p.answer:
		return answer
	case <-ctx.Done():
		return selfline.Failed("timeout", "nobody waits any more")
	}
}

// Stream gives every request that waits, and then those that come, until the context ends.
func (t *Table) Stream(ctx context.Context, send func(*guestv1.SelfRequest) error) error {
	sent := map[string]bool{}
	for {
		t.mu.Lock()
		waiting, changed := slices.Clone(t.pending), t.changed
		t.mu.Unlock()
		for _, p := range waiting {
			if sent[p.id] {
				continue
			}
			// Before it is sent: the pause that it asks for may freeze this very line.
			t.setDelivered(p, true)
			if err := send(&guestv1.SelfRequest{Id: p.id, Verb: p.request.Verb, Options: string(p.request.Options)}); err != nil {
				t.setDelivered(p, false)
				return err
			}
			sent[p.id] = true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *Table) setDelivered(p *pending, delivered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.delivered = delivered
}

// Answer ends a request with the daemon's words.
func (t *Table) Answer(id string, text []byte) {
	p := t.take(id)
	if p == nil {
		return
	}
	var answer selfline.Answer
	if err := json.Unmarshal(text, &answer); err != nil {
		answer = selfline.Failed("internal", "the daemon's answer can't be read")
	}
	p.answer <- answer
}

// Restored ends what a restore has answered: a pause that the daemon had been asked for, and in a child each fork and snapshot. Anything else is
// asked again.
func (t *Table) Restored(h identity.Hello) {
	t.mu.Lock()
	waiting := slices.Clone(t.pending)
	t.mu.Unlock()
	for _, p := range waiting {
		resumed := h.GetOrigin() == "resumed" && p.request.Verb == "pause" && p.delivered
		forked := h.GetOrigin() == "forked" && (p.request.Verb == "fork" || p.request.Verb == "snapshot")
		if (resumed || forked) && t.take(p.id) != nil {
			p.answer <- selfline.Answer{Result: identity.Describe(h)}
		}
	}
}

func (t *Table) add(p *pending) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) >= maxPending {
		return false
	}
	t.pending = append(t.pending, p)
	close(t.changed)
	t.changed = make(chan struct{})
	return true
}

// take gives the request to the one who ends it.
func (t *Table) take(id string) *pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.pending, func(p *pending) bool { return p.id == id })
	if at < 0 {
		return nil
	}
	p := t.pending[at]
	t.pending = slices.Delete(t.pending, at, at+1)
	return p
}
