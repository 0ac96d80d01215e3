// Package session keeps the processes and terminals that were started through the guest: their input, their output
// journals, their ends.
package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/clock"
	"torpor.dev/torpor/native/internal/guest/users"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// How long a process has between TERM and KILL when its time is over.
const killAfter = 5 * time.Second

// Session is a process with its group, from its start to its removal.
type Session struct {
	id       string
	argv     []string
	user     users.User
	workdir  string
	terminal bool
	started  time.Time
	clock    *clock.Clock
	journal  *journal
	streams  []*stream
	input    *input
	clients  *clients
	courtesy *courtesy
	keep     time.Duration // running time after the end; 0: among the newest
	// A session of a supervised process has the journal and the clients of the one before it, whose place it takes.
	supervised bool
	attempt    uint32
	ready      chan struct{} // closed when the process runs or was refused
	over       chan struct{} // closed when the end is recorded

	mu      sync.Mutex
	pid     int // 0: not started
	size    *guestv1.Terminal
	ended   bool
	lastEnd *guestv1.End // of a supervised process
	cause   cause
	timeout *clock.Timer
}

// Describe gives what others may know of the session.
func (s *Session) Describe() *guestv1.Session {
	first, last, end := s.journal.span()
	s.mu.Lock()
	pid, size, lastEnd := s.pid, s.size, s.lastEnd
	s.mu.Unlock()
	return &guestv1.Session{
		Size: size, Attempt: s.attempt, LastEnd: lastEnd,
		Id: s.id, Argv: shorten(s.argv), Pid: uint32(pid), Terminal: s.terminal, StartedUnixNanos: s.started.UnixNano(),
		FirstSeq: first, LastSeq: last, End: end, InputOffset: s.input.taken(), User: strings.ToValidUTF8(s.user.Name, "\uFFFD"), Workdir: s.workdir,
	}
}

// Send gives a message to whoever reads a session. With `more` set another one or the end of the call follows at once, so
// the message need not go out by itself. Without a message, those that were kept back go out.
type Send func(m *guestv1.AttachResponse, more bool) error

// Attach gives what is known of the session to `send`, every frame after the one that is asked for, then the end.
func (s *Session) Attach(ctx context.Context, req *guestv1.AttachRequest, send Send) error {
	r, err := s.journal.attach(ctx, req.GetAfter(), req.GetHold(), req.GetClient())
	if err != nil {
		return err
	}
	defer r.close()
	// It goes out by itself: a session that is silent until it gets input may have nothing else to tell.
	if err := send(&guestv1.AttachResponse{Event: &guestv1.AttachResponse_Started{Started: s.Describe()}}, false); err != nil {
		return err
	}
	return r.forward(ctx, send)
}

func (r *reader) forward(ctx context.Context, send Send) error {
	for {
		frames, end, err := r.next(ctx)
		if err != nil {
			return err
		}
		if end != nil {
			return send(&guestv1.AttachResponse{Event: &guestv1.AttachResponse_End{End: end}}, true)
		}
		if len(frames) == 0 {
			if err := send(nil, false); err != nil {
				return err
			}
		}
		for i, f := range frames {
			output := &guestv1.Output{Seq: f.seq, Stream: f.stream, Data: f.data}
			more := i < len(frames)-1
			if err := send(&guestv1.AttachResponse{Event: &guestv1.AttachResponse_Output{Output: output}}, more); err != nil {
				return err
			}
			r.sent(f.seq)
		}
	}
}

// Signal sends to the process group; in a terminal the keyboard's signals go to the foreground group, as its keys would.
func (s *Session) Signal(name string) error {
	signal, err := parseSignal(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.pid == 0 {
		return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("session %s has ended", s.id))
	}
	group := s.pid
	if s.terminal && (signal == syscall.SIGINT || signal == syscall.SIGQUIT || signal == syscall.SIGTSTP) {
		if foreground := s.foreground(); foreground > 1 {
			group = foreground
		}
	}
	if s.cause.signals == nil {
		s.cause.signals = map[syscall.Signal]bool{}
	}
	s.cause.signals[signal] = true
	if err := syscall.Kill(-group, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return connect.NewError(connect.CodeInternal, fmt.Errorf("signal %s to session %s: %w", name, s.id, err))
	}
	return nil
}

func (s *Session) foreground() (group int) {
	_ = s.streams[0].raw.Control(func(fd uintptr) {
		if g, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); err == nil {
			group = g
		}
	})
	return group
}

// Resize changes the size of a terminal.
func (s *Session) Resize(rows, columns uint32) error {
	if !s.terminal {
		return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("session %s has no terminal", s.id))
	}
	err := errors.New("it has ended")
	_ = s.streams[0].raw.Control(func(fd uintptr) { err = resize(int(fd), rows, columns) })
	if err != nil {
		return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("size of session %s: %w", s.id, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = &guestv1.Terminal{Rows: rows, Columns: columns}
	return nil
}

// setTimeout counts running time only: a pause does not eat it.
func (s *Session) setTimeout(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d <= 0 || s.ended {
		return
	}
	s.timeout = s.clock.After(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended {
			return
		}
		s.cause.timeout = !s.cause.stopped
		_ = syscall.Kill(-s.pid, syscall.SIGTERM)
		// Not stopped by the end of the leader: what else is in the group may have ignored TERM.
		s.clock.After(killAfter, func() { killAll(s.pid) })
	})
}

func (s *Session) kill() {
	s.mu.Lock()
	s.cause.removed = true
	pid, ended := s.pid, s.ended
	s.mu.Unlock()
	if pid > 0 && !ended {
		killAll(pid)
	}
}

// finish records the end, after everything that the process itself had written.
func (s *Session) finish(status syscall.WaitStatus) {
	s.mu.Lock()
	s.ended = true
	s.timeout.Stop()
	s.mu.Unlock()
	s.journal.close()
	for _, stream := range s.streams {
		stream.drain()
	}
	s.mu.Lock()
	end := endOf(status, s.cause, time.Now().UnixNano())
	if s.supervised {
		s.lastEnd = end
	}
	s.mu.Unlock()
	if s.supervised {
		s.journal.mark(endMark(s.attempt, end))
	} else {
		s.journal.finish(end)
	}
	s.input.close()
	close(s.over)
}

// shorten bounds what a list of sessions can weigh.
func shorten(argv []string) []string {
	const maxBytes = 4 << 10
	total := 0
	for i, a := range argv {
		if total += len(a) + 16; total > maxBytes {
			return append(append([]string(nil), argv[:i]...), "…")
		}
	}
	return argv
}
