// Package pace has the engine's background load of a checkpoint's memory give way to the sandbox that it brings back.
//
// The load reads with 128 threads at once (gVisor, pkg/sentry/state/stateio/pagesfile.go), which leave no CPU time to anything else: on two
// CPUs a sandbox with 4 GiB first answered after 2.4 s, of which its own work took 0.2 s. The engine has no setting for that. What it
// reads goes through the kernel's permission events (fanotify(7)): most of the 128 wait here, so that few are at work, and what the
// sandbox itself asks for (the engine puts it before all else) goes with the next free one.
package pace

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// engineReads are under way at once, each of up to 256 KiB.
	engineReads = 128
	// The first reads are let through: they are of pages that were there first, of which every sandbox needs some at once. Nothing
	// can run inside meanwhile: the engine loads its own state.
	firstReads = 192
	tick       = time.Millisecond
	// A load gives way for no longer than this, whatever happens.
	longest = time.Second
	// Lift is seen after this at the latest; whoever begins to wait is seen at once.
	look = 100 * time.Millisecond
	// struct fanotify_event_metadata: event_len u32, vers u8, reserved u8, metadata_len u16, mask u64, fd s32, pid s32.
	eventHeader = 24
)

// Load is the load of one file.
type Load struct {
	group   int
	isPaced func(pid int) bool
	known   map[int]bool
	atOnce  int
	limit   time.Duration
	seen    int
	begun   time.Time
	held    []int32 // reads that wait for the end
	next    []int32 // reads that wait for their turn
	lifted  atomic.Bool
	ended   chan struct{}
}

// Start has the reads of the file give way, by those processes that isPaced names, until Lift or for a second: atOnce of them are at work at a
// time, and so many begin each millisecond (0.26 GB/s each). The file must not have been opened by them before. If this process is
// killed, the kernel lets all of them through. A read by anybody else ends it, as by the other children of a fork: each would be asked for
// all reads of all, and has its CPUs taken by the others anyway. It fails where the kernel has no permission events (CONFIG_FANOTIFY_ACCESS_PERMISSIONS),
// and without CAP_SYS_ADMIN.
func Start(path string, atOnce int, isPaced func(pid int) bool) (*Load, error) {
	return start(path, atOnce, longest, isPaced)
}

func start(path string, atOnce int, limit time.Duration, isPaced func(pid int) bool) (*Load, error) {
	group, err := unix.FanotifyInit(unix.FAN_CLASS_CONTENT|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_LARGEFILE|unix.O_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("fanotify_init", err)
	}
	if err := unix.FanotifyMark(group, unix.FAN_MARK_ADD, unix.FAN_ACCESS_PERM, unix.AT_FDCWD, path); err != nil {
		_ = unix.Close(group)
		return nil, fmt.Errorf("fanotify_mark %s: %w", path, err)
	}
	l := &Load{group: group, isPaced: isPaced, known: map[int]bool{}, atOnce: atOnce, limit: limit, ended: make(chan struct{})}
	go l.run()
	return l, nil
}

// Lift lets the rest in as fast as it comes.
func (l *Load) Lift() { l.lifted.Store(true) }

func (l *Load) run() {
	defer close(l.ended)
	defer l.end()
	events := make([]byte, 64<<10)
	var turn time.Time
	for !l.lifted.Load() && (l.begun.IsZero() || time.Since(l.begun) < l.limit) {
		wait := look
		if len(l.held)+len(l.next) > 0 {
			wait = tick
		}
		timeout := unix.NsecToTimespec(wait.Nanoseconds())
		if _, err := unix.Ppoll([]unix.PollFd{{Fd: int32(l.group), Events: unix.POLLIN}}, &timeout, nil); err != nil && err != unix.EINTR {
			return
		}
		n, err := unix.Read(l.group, events)
		if err == nil {
			l.receive(events[:n])
		} else if err != unix.EAGAIN && err != unix.EINTR {
			return
		}
		if now := time.Now(); now.Sub(turn) >= tick {
			turn = now
			begin := min(l.atOnce, len(l.next))
			l.allow(l.next[:begin])
			l.next = l.next[begin:]
		}
	}
}

func (l *Load) receive(events []byte) {
	for len(events) >= eventHeader {
		length := binary.NativeEndian.Uint32(events)
		read, pid := int32(binary.NativeEndian.Uint32(events[16:])), int(int32(binary.NativeEndian.Uint32(events[20:])))
		if length < eventHeader || int(length) > len(events) {
			return
		}
		events = events[length:]
		if read >= 0 { // else there were more than the kernel's queue holds: it has let them through
			l.place(read, pid)
		}
	}
}

func (l *Load) place(read int32, pid int) {
	if !l.paces(pid) {
		l.allow([]int32{read})
		l.Lift()
		return
	}
	if l.seen++; l.seen == 1 {
		l.begun = time.Now()
	}
	switch {
	case l.seen <= firstReads:
		l.allow([]int32{read})
	case l.seen <= firstReads+engineReads-l.atOnce:
		l.held = append(l.held, read)
	default:
		l.next = append(l.next, read)
	}
}

func (l *Load) paces(pid int) bool {
	paced, known := l.known[pid]
	if !known {
		paced = l.isPaced(pid)
		l.known[pid] = paced
	}
	return paced
}

// allow answers the events that the descriptors stand for.
func (l *Load) allow(reads []int32) {
	for _, read := range reads {
		var response [8]byte // struct fanotify_response
		binary.NativeEndian.PutUint32(response[:], uint32(read))
		binary.NativeEndian.PutUint32(response[4:], unix.FAN_ALLOW)
		_, _ = unix.Write(l.group, response[:])
		_ = unix.Close(int(read))
	}
}

func (l *Load) end() {
	l.allow(l.held)
	l.allow(l.next)
	_ = unix.Close(l.group) // lets those through that were not seen yet
}
