// Package process starts the sandbox's processes: with the capabilities, the identity and the process limit that they are
// to have, which are not PID 1's own.
package process

import (
	"runtime"
	"syscall"

	"torpor.dev/torpor/native/internal/guest/users"
)

// Request is what to start. Files are the child's descriptors from 0 on.
type Request struct {
	Path     string
	Argv     []string
	Env      []string
	Dir      string
	User     users.User
	Files    []uintptr
	Terminal bool // descriptor 0 becomes the controlling terminal
}

// Spawner starts processes from one locked thread, whose capability bounding set they inherit. One thread
// is enough: the kernel suspends the parent in vfork and Go serialises forks anyway.
type Spawner struct {
	work chan job
	pids *pidsLimit
}

type job struct {
	run  func() (int, error)
	done chan result
}

type result struct {
	pid int
	err error
}

// NewSpawner starts the thread.
func NewSpawner() *Spawner {
	s := &Spawner{work: make(chan job), pids: &pidsLimit{}}
	go func() {
		runtime.LockOSThread()
		limitCapabilities()
		for j := range s.work {
			pid, err := j.run()
			j.done <- result{pid, err}
		}
	}()
	return s
}

// Start answers when the program is executed. The error is the errno of fork, chdir or exec.
func (s *Spawner) Start(r *Request) (int, error) {
	group := s.pids.group()
	pid, err := s.onThread(func() (int, error) { return forkExec(r, group) })
	if err == syscall.EAGAIN && group >= 0 {
		return s.startOverLimit(r)
	}
	return pid, err
}

// LimitPids bounds the tasks of everything that is started from now on. 0: no bound.
func (s *Spawner) LimitPids(limit uint32) error {
	return s.pids.set(limit)
}

func (s *Spawner) onThread(run func() (int, error)) (int, error) {
	j := job{run, make(chan result, 1)}
	s.work <- j
	r := <-j.done
	return r.pid, r.err
}

// startOverLimit keeps the sandbox reachable when its own processes have used up the limit: a session asked for from
// outside starts beside the limit and is then counted against it. What it forked before that is moved in as well.
func (s *Spawner) startOverLimit(r *Request) (int, error) {
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread, with its smaller capability set, ends with the goroutine
		limitCapabilities()
		pid, err := forkExec(r, -1)
		if err == nil {
			s.pids.adopt(pid)
		}
		done <- result{pid, err}
	}()
	got := <-done
	return got.pid, got.err
}

func forkExec(r *Request, group int) (int, error) {
	attr := &syscall.ProcAttr{Dir: r.Dir, Env: r.Env, Files: r.Files, Sys: &syscall.SysProcAttr{Setsid: true}}
	if group >= 0 {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, group
	}
	if r.Terminal {
		attr.Sys.Setctty = true // Ctty 0: the child's descriptor 0
	}
	if syscall.Geteuid() == 0 {
		attr.Sys.Credential = &syscall.Credential{Uid: r.User.UID, Gid: r.User.GID, Groups: r.User.Groups}
	}
	return syscall.ForkExec(r.Path, r.Argv, attr)
}
