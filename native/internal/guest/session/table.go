package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/guest/clock"
	"torpor.dev/torpor/native/internal/guest/process"
	"torpor.dev/torpor/native/internal/guest/users"
	"torpor.dev/torpor/native/internal/reaper"
)

const (
	keptEnded  = 64
	maxIDBytes = 128
	// What the journals of ended sessions may hold together; the oldest are forgotten first beyond it.
	maxEndedBytes = 32 << 20
)

// Defaults are the sandbox's own settings for new sessions.
type Defaults struct {
	Env     []string // in the form NAME=value
	Workdir string
	User    string
}

// Table holds the sessions of the sandbox.
type Table struct {
	Reaper   *reaper.Reaper
	Spawner  *process.Spawner
	Clock    *clock.Clock
	Users    users.Database
	Defaults func() Defaults

	mu       sync.Mutex
	sessions map[string]*Session
	ended    []*Session // oldest first
	freezing bool
	courtesy *courtesy
}

// NewTable makes an empty table.
func NewTable(r *reaper.Reaper, s *process.Spawner, c *clock.Clock, defaults func() Defaults) *Table {
	return &Table{Reaper: r, Spawner: s, Clock: c, Users: users.System, Defaults: defaults, sessions: map[string]*Session{}, courtesy: newCourtesy()}
}

// Freeze refuses new sessions until Thaw.
func (t *Table) Freeze() { t.set(true, false) }

// Stop refuses new sessions as Freeze does; those that run end with the sandbox from now on, by themselves too.
func (t *Table) Stop() { t.set(true, true) }

// Thaw lets new sessions in again; a stop has been given up.
func (t *Table) Thaw() { t.set(false, false) }

func (t *Table) set(freezing, stopping bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.freezing = freezing
	for _, s := range t.sessions {
		s.mu.Lock()
		if !s.ended { // else its cause is known
			s.cause.stopped = stopping
		}
		s.mu.Unlock()
	}
}

// Get gives the session of an id.
func (t *Table) Get(id string) (*Session, error) {
	t.mu.Lock()
	s := t.sessions[id]
	t.mu.Unlock()
	if s == nil {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("there is no session %q", id))
	}
	<-s.ready
	if s.pid == 0 {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("there is no session %q", id))
	}
	return s, nil
}

// List gives all sessions, the oldest first.
func (t *Table) List() []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]*Session, 0, len(t.sessions))
	for _, s := range t.sessions {
		select {
		case <-s.ready:
			all = append(all, s)
		default:
		}
	}
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.id, b.id)) })
	return all
}

// Remove forgets an ended session; with force a running one is killed first.
func (t *Table) Remove(ctx context.Context, id string, force bool) error {
	s, err := t.Get(id)
	if err != nil {
		return err
	}
	select {
	case <-s.over:
	default:
		if !force {
			return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("session %s still runs: end it first, or remove it with force", id))
		}
		s.kill()
		select {
		case <-s.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.supervised {
		s.journal.finish(s.lastEnd)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(s)
	return nil
}

// RestartGrace gives every holding reader that broke off its full time again: it could not come back while frozen.
func (t *Table) RestartGrace() {
	for _, s := range t.List() {
		s.journal.restartGrace()
	}
}

// OfProcess gives the running session whose leader has this pid.
func (t *Table) OfProcess(pid int) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.sessions {
		select {
		case <-s.ready:
			if s.pid == pid && !isClosed(s.over) {
				return s
			}
		default:
		}
	}
	return nil
}

// reserve takes an id, so that a repeat of the same request cannot start a second process.
// What it gives is the ended one whose place it took.
func (t *Table) reserve(s *Session) (before *Session, err error) {
	if s.id == "" || len(s.id) > maxIDBytes {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("a session id has 1 to %d bytes", maxIDBytes))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.freezing {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("freezing"))
	}
	if before = t.sessions[s.id]; before != nil && before.journal != s.journal {
		return before, connect.NewError(connect.CodeAlreadyExists, fmt.Errorf("there is a session %q already", s.id))
	}
	t.sessions[s.id] = s
	return before, nil
}

// release gives the place of one that did not start back.
func (t *Table) release(s, before *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(s)
	if before != nil {
		t.sessions[s.id] = before
	}
}

func (t *Table) forget(s *Session) {
	if t.sessions[s.id] == s {
		delete(t.sessions, s.id)
	}
	t.ended = slices.DeleteFunc(t.ended, func(e *Session) bool { return e == s })
}

func (t *Table) finish(s *Session, status syscall.WaitStatus) {
	if s.supervised {
		<-s.ready
		s.finish(status)
		return
	}
	s.finish(status)
	t.keep(s)
	if s.keep > 0 {
		s.clock.After(s.keep, func() { t.release(s, nil) })
	}
}

// keep files a session with the ended ones and forgets the oldest beyond the bound.
func (t *Table) keep(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions[s.id] != s {
		return
	}
	t.ended = append(t.ended, s)
	total := 0
	for i := len(t.ended) - 1; i >= 0; i-- {
		total += t.ended[i].journal.size()
		if kept := len(t.ended) - i; kept > keptEnded || (kept > 1 && total > maxEndedBytes) {
			for _, old := range slices.Clone(t.ended[:i+1]) {
				t.forget(old)
			}
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
