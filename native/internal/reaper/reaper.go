// Package reaper waits for every child of the process, the adopted ones included, and hands each exit status to the one
// who started the child.
package reaper

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

// Reaper is the only caller of wait in its process: a second one would steal statuses.
type Reaper struct {
	mu        sync.Mutex
	owners    map[int]func(syscall.WaitStatus)
	starting  int                        // starts under way, whose child may end before its pid is known here
	unclaimed map[int]syscall.WaitStatus // ended while a start was under way
	reaped    chan struct{}              // closed and replaced at each exit
	kick      chan struct{}
}

// New starts the reaper. It runs for the rest of the process.
func New() *Reaper {
	r := &Reaper{
		owners:    map[int]func(syscall.WaitStatus){},
		unclaimed: map[int]syscall.WaitStatus{},
		reaped:    make(chan struct{}),
		kick:      make(chan struct{}, 1),
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	go func() {
		for range signals {
			r.wake()
		}
	}()
	go r.loop()
	return r
}

// Start runs `start`, which makes a child and returns its pid, and calls `ended` once when that child has ended, on the
// reaper's goroutine: it must not block.
func (r *Reaper) Start(start func() (int, error), ended func(syscall.WaitStatus)) (int, error) {
	r.mu.Lock()
	r.starting++
	r.mu.Unlock()
	pid, err := start()
	r.mu.Lock()
	r.starting--
	var status syscall.WaitStatus
	over := false
	if err == nil {
		if status, over = r.unclaimed[pid]; over {
			delete(r.unclaimed, pid)
		} else {
			r.owners[pid] = ended
		}
	}
	if r.starting == 0 {
		clear(r.unclaimed)
	}
	r.mu.Unlock()
	if err == nil {
		r.wake()
	}
	if over {
		ended(status)
	}
	return pid, err
}

// Reaped is closed at the next exit of any child.
func (r *Reaper) Reaped() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reaped
}

func (r *Reaper) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// loop blocks in wait4 rather than act on SIGCHLD alone: that saves two goroutine switches an exit, which is most of what
// the guest adds to a short command. The signal only says that there may be a child again, after there was none.
func (r *Reaper) loop() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			<-r.kick
		case status.Exited() || status.Signaled():
			r.deliver(pid, status)
			// Whoever waits for this runs now, on this thread: the next wait would take it along into the kernel.
			runtime.Gosched()
		}
	}
}

func (r *Reaper) deliver(pid int, status syscall.WaitStatus) {
	r.mu.Lock()
	ended := r.owners[pid]
	delete(r.owners, pid)
	if ended == nil && r.starting > 0 {
		r.unclaimed[pid] = status
	}
	close(r.reaped)
	r.reaped = make(chan struct{})
	r.mu.Unlock()
	if ended != nil {
		ended(status)
	}
}
