package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// The engine's /proc has this directory, no other kernel's does.
	engineMark = "/proc/gvisor"
	pidsMount  = "/.torpor/run/pids"
	maxSweeps  = 20
)

// pidsLimit is a cgroup of the engine's own pids controller. The engine knows RLIMIT_NPROC but does not hold root to it,
// and a host's pids cgroup counts the sentry's threads, not the sandbox's. Under runc the host's cgroup does the work and
// this stays inactive.
type pidsLimit struct {
	mu      sync.Mutex
	max     *os.File // pids.max of the sessions' cgroup
	procs   *os.File // cgroup.procs of it
	outside *os.File // cgroup.procs of the root, where PID 1 and the connectors stay
	current *os.File // pids.current of the sessions' cgroup
	limit   string
}

// Tasks is how many tasks the sessions have and may have, 0 where they are not counted.
func (s *Spawner) Tasks() (tasks, limit int) {
	s.pids.mu.Lock()
	defer s.pids.mu.Unlock()
	if s.pids.current == nil {
		return 0, 0
	}
	var buffer [32]byte
	n, _ := s.pids.current.ReadAt(buffer[:], 0)
	tasks, _ = strconv.Atoi(string(bytes.TrimSpace(buffer[:n])))
	limit, _ = strconv.Atoi(s.pids.limit)
	return tasks, limit
}

// Pids lists the sessions' processes by one read, where /proc would need one a process.
func (s *Spawner) Pids() (pids []int) {
	s.pids.mu.Lock()
	defer s.pids.mu.Unlock()
	if s.pids.procs == nil {
		return nil
	}
	for _, line := range bytes.Fields(readAll(s.pids.procs)) {
		if pid, err := strconv.Atoi(string(line)); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// StopForks keeps the sessions from making any task until `resume` is called, so that a fork bomb can be killed: it would
// outrun whoever kills it one by one.
func (s *Spawner) StopForks() (resume func()) {
	p := s.pids
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.max == nil {
		return func() {}
	}
	_, _ = p.max.WriteAt([]byte("0"), 0)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		_, _ = p.max.WriteAt([]byte(p.limit), 0)
	}
}

func (p *pidsLimit) active() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.max != nil
}

// set must run on the spawner's thread, which it moves into the cgroup.
func (p *pidsLimit) set(limit uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.max == nil {
		if limit == 0 {
			return nil
		}
		if _, err := os.Stat(engineMark); err != nil {
			return nil
		}
		if err := p.open(); err != nil {
			return fmt.Errorf("the engine's pids controller: %w", err)
		}
	}
	p.limit = "max"
	if limit > 0 {
		p.limit = strconv.FormatUint(uint64(limit)+1, 10) // one for the spawner's thread
	}
	_, err := p.max.WriteAt([]byte(p.limit), 0)
	return err
}

// open mounts the controller, keeps descriptors of it, and takes the mount away again, so that root in the sandbox finds
// no file to raise its own limit with.
func (p *pidsLimit) open() (err error) {
	if err := os.MkdirAll(pidsMount, 0o700); err != nil {
		return err
	}
	defer os.Remove(pidsMount)
	if err := unix.Mount("cgroup", pidsMount, "cgroup", 0, "pids"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Unmount(pidsMount, unix.MNT_DETACH)) }()
	sessions := filepath.Join(pidsMount, "sessions")
	if err := os.Mkdir(sessions, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	tasks, err := os.OpenFile(filepath.Join(sessions, "tasks"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer tasks.Close()
	files := make([]*os.File, 0, 4)
	for _, name := range []string{"sessions/pids.max", "sessions/cgroup.procs", "cgroup.procs", "sessions/pids.current"} {
		flag := os.O_RDWR
		if name == "sessions/pids.current" {
			flag = os.O_RDONLY
		}
		f, err := os.OpenFile(filepath.Join(pidsMount, name), flag, 0)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if _, err := tasks.WriteString("0"); err != nil {
		return err
	}
	p.max, p.procs, p.outside, p.current = files[0], files[1], files[2], files[3]
	return nil
}

// adopt counts a process that started beside the limit, and what it forked since, until nothing of it is left outside.
func (p *pidsLimit) adopt(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.move(pid)
	for range maxSweeps {
		moved := false
		for _, line := range bytes.Fields(readAll(p.outside)) {
			if n, err := strconv.Atoi(string(line)); err == nil && n != os.Getpid() && ParentOf(n) > 0 && p.move(n) {
				moved = true
			}
		}
		if !moved {
			return
		}
	}
}

func (p *pidsLimit) move(pid int) bool {
	_, err := p.procs.WriteAt([]byte(strconv.Itoa(pid)), 0)
	return err == nil
}

func readAll(f *os.File) []byte {
	buffer := make([]byte, 64<<10)
	n, _ := f.ReadAt(buffer, 0)
	return buffer[:n]
}
