package session

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	// What a terminal may still hold when its process has ended; more than its queues can, less than a child that goes
	// on writing would give.
	maxTerminalDrainBytes = 1 << 20
	terminalDrainStep     = 10 * time.Millisecond
)

// Buffers live only while there is something to read: an idle session holds none.
var buffers = sync.Pool{New: func() any { b := make([]byte, maxFrameBytes); return &b }}

// stream carries one output of a process into the journal.
type stream struct {
	kind     guestv1.Stream
	file     *os.File // non-blocking
	raw      syscall.RawConn
	journal  *journal
	courtesy *courtesy // of a terminal
	input    *input    // the terminal's own

	mu   sync.Mutex // held over a read and its append: that keeps the order, and makes the drain exact
	done bool       // the process has ended and was drained: what its children still write is dropped
}

func newStream(kind guestv1.Stream, fd int, name string, j *journal) (*stream, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &stream{kind: kind, file: file, raw: raw, journal: j}, nil
}

// pump reads until the last holder of the other end is gone, also after the end of the session: a child left behind must
// neither block nor get a SIGPIPE.
func (s *stream) pump() {
	defer s.file.Close()
	_ = s.raw.Read(func(fd uintptr) bool {
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		for {
			portion, rest := s.portion(*buffer)
			switch err := s.step(int(fd), portion); err {
			case nil, unix.EINTR:
				rest()
			case unix.EAGAIN:
				return false
			default:
				return true
			}
		}
	})
}

// portion is how much may be moved at once, and what is done before the next: a step that has filled it has left some.
func (s *stream) portion(buffer []byte) (portion []byte, rest func()) {
	if s.courtesy == nil || !s.courtesy.isDue(s.input) {
		return buffer, func() {}
	}
	return buffer[:courtesyBytes], s.courtesy.rest
}

// step moves what is there, up to a frame's worth: a terminal gives 4 KiB a read however much waits, and each frame costs everybody on its
// way as much as a large one. EOF is an error here.
func (s *stream) step(fd int, buffer []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	filled := 0
	var err error
	for filled < len(buffer) && err == nil {
		var n int
		n, err = unix.Read(fd, buffer[filled:])
		if err == unix.EINTR {
			err = nil
			continue
		}
		if err == nil && n == 0 {
			err = unix.EPIPE
		}
		filled += max(n, 0)
		if s.kind != guestv1.Stream_STREAM_TERMINAL {
			break
		}
	}
	if filled > 0 && !s.done {
		s.journal.append(s.kind, buffer[:filled])
	}
	return err
}

// drain takes what the ended process itself had written: no more, since a child may go on for ever. All of it is in the
// pipe by now, so the kernel's count is the bound.
func (s *stream) drain() {
	_ = s.raw.Control(func(fd uintptr) {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer func() { s.done = true }()
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		if s.kind == guestv1.Stream_STREAM_TERMINAL {
			s.drainTerminal(int(fd), *buffer)
			return
		}
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && left > 0 {
			var n int
			n, err = unix.Read(int(fd), (*buffer)[:min(left, len(*buffer))])
			if err == unix.EINTR {
				err = nil
				continue
			}
			if n <= 0 {
				return
			}
			s.journal.append(s.kind, (*buffer)[:n])
			left -= n
		}
	})
}

// drainTerminal reads until the terminal has no other end or is silent: its line discipline hands output on in its own
// time, and its count does not cover what is still queued behind.
func (s *stream) drainTerminal(fd int, buffer []byte) {
	for total := 0; total < maxTerminalDrainBytes; {
		n, err := unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, _ := unix.Poll(ready, int(terminalDrainStep.Milliseconds())); n == 0 {
				return
			}
		case n <= 0:
			return
		default:
			s.journal.append(s.kind, buffer[:n])
			total += n
		}
	}
}
