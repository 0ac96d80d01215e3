// Package process starts the sandbox's processes: with the capabilities, the identity and the process limit that they are
// to have, which are not PID 1's own.
package process

import (
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

// Spawner starts processes.
type Spawner struct{ pids *pidsLimit }

// NewSpawner bounds what children of this process can ever have.
func NewSpawner() *Spawner {
	limitCapabilities()
	return &Spawner{pids: &pidsLimit{}}
}

// Start answers when the program is executed. The error is the errno of fork, chdir or exec.
//
// Where the sandbox's processes have used up their limit, a session asked for from outside starts beside it and is then
// counted against it, so that the sandbox stays reachable. What it forked before that is moved in as well.
func (s *Spawner) Start(r *Request) (int, error) {
	group := s.pids.group()
	pid, err := forkExec(r, group)
	if err == syscall.EAGAIN && group >= 0 {
		if pid, err = forkExec(r, -1); err == nil {
			s.pids.adopt(pid)
		}
	}
	return pid, err
}

// LimitPids bounds the tasks of everything that is started from now on. 0: no bound.
func (s *Spawner) LimitPids(limit uint32) error { return s.pids.set(limit) }

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
