// Package children starts processes under a subreaper. One reaper waits for every child, those that became ours when
// their parent ended (the engine's sentry and gofer) included, so os/exec, which waits by pid, can't be used beside it.
package children

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Status is how a process ended.
type Status = syscall.WaitStatus

// Reaper hands out the ends of processes.
type Reaper struct {
	mu      sync.Mutex
	waiting map[int]chan Status
	adopted func(pid int, status Status)
}

// NewReaper makes this process the subreaper of all that it starts and begins to reap. adopted is told of the end of
// each child that nobody waits for.
func NewReaper(adopted func(pid int, status Status)) (*Reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become subreaper: %w", err)
	}
	r := &Reaper{waiting: map[int]chan Status{}, adopted: adopted}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	go func() {
		for range signals {
			r.reap()
		}
	}()
	return r, nil
}

// Start runs argv with the given files as its descriptors 0, 1, 2, … in a session of its own. It is killed if this process is.
func (r *Reaper) Start(argv []string, dir string, env []string, files []*os.File) (int, <-chan Status, error) {
	attributes := &syscall.ProcAttr{Dir: dir, Env: env, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	for _, f := range files {
		attributes.Files = append(attributes.Files, f.Fd())
	}
	var pid int
	var err error
	started, done := make(chan struct{}), make(chan Status, 1)
	go func() {
		// To the kernel a child's parent is the thread that started it: it has to stay for as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var ended <-chan Status
		pid, ended, err = r.fork(argv, attributes)
		close(started)
		if err == nil {
			done <- <-ended
		}
	}()
	<-started
	return pid, done, err
}

func (r *Reaper) fork(argv []string, attributes *syscall.ProcAttr) (int, <-chan Status, error) {
	ended := make(chan Status, 1)
	// The lock is held over the fork, so that the reaper can't see the child before it is known.
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(argv[0], argv, attributes)
	if err != nil {
		return 0, nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	r.waiting[pid] = ended
	return pid, ended, nil
}

func (r *Reaper) reap() {
	for {
		var status Status
		r.mu.Lock()
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			r.mu.Unlock()
			continue
		}
		if err != nil || pid <= 0 {
			r.mu.Unlock()
			return
		}
		done, ok := r.waiting[pid]
		delete(r.waiting, pid)
		r.mu.Unlock()
		if ok {
			done <- status
		} else if r.adopted != nil {
			r.adopted(pid, status)
		}
	}
}
