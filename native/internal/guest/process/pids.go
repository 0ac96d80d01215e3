package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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

// pidsLimit is a cgroup of the engine's own cgroup2. Rejected: RLIMIT_NPROC, to which the engine does not hold root; its
// cgroup v1 controller, which it asks only once in as many forks as there are hierarchies; a host's pids cgroup, which
// counts the sentry's threads and not the sandbox's. Under runc the host's cgroup does the work and this stays inactive.
type pidsLimit struct {
	mu       sync.Mutex
	sessions *os.File // the sessions' cgroup
	max      *os.File // its pids.max
	current  *os.File // its pids.current
	procs    *os.File // its cgroup.procs
	outside  *os.File // cgroup.procs of PID 1's own cgroup, where the connectors start too
	limit    string
	allowed  string // what is in force: no more than the limit
}

// group is the descriptor of the cgroup that children start in, -1 for none.
func (p *pidsLimit) group() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions == nil {
		return -1
	}
	return int(p.sessions.Fd())
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
		_, _ = p.max.WriteAt([]byte(p.allowed), 0)
	}
}

// Allow bounds the sessions' tasks for the time being, at most by their limit; 0 and less allow no new one.
func (s *Spawner) Allow(tasks int) {
	p := s.pids
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.max == nil {
		return
	}
	allowed := strconv.Itoa(max(tasks, 0))
	if limit, err := strconv.Atoi(p.limit); err == nil && tasks >= limit {
		allowed = p.limit
	}
	if allowed == p.allowed {
		return
	}
	if _, err := p.max.WriteAt([]byte(allowed), 0); err == nil {
		p.allowed = allowed
	}
}

func (p *pidsLimit) set(limit uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.max == nil {
		if limit == 0 {
			return nil
		}
		if _, err := os.Stat(engineMark); err != nil {
			reserveThreads()
			return nil
		}
		if err := p.open(); err != nil {
			return fmt.Errorf("the engine's pids controller: %w", err)
		}
	}
	p.limit = "max"
	if limit > 0 {
		p.limit = strconv.FormatUint(uint64(limit), 10)
	}
	p.allowed = p.limit
	_, err := p.max.WriteAt([]byte(p.limit), 0)
	return err
}

// open mounts the cgroups, keeps descriptors of the sessions' one, and takes the mount away again, so that root in the
// sandbox finds no file to raise its own limit with.
func (p *pidsLimit) open() (err error) {
	if err := os.MkdirAll(pidsMount, 0o700); err != nil {
		return err
	}
	defer os.Remove(pidsMount)
	if err := unix.Mount("cgroup2", pidsMount, "cgroup2", 0, ""); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Unmount(pidsMount, unix.MNT_DETACH)) }()
	for _, name := range []string{"init", "sessions"} {
		if err := os.Mkdir(pidsMount+"/"+name, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if err := enablePids(); err != nil {
		return err
	}
	var files []*os.File
	for _, x := range []struct {
		name string
		flag int
	}{{"sessions", os.O_RDONLY}, {"sessions/pids.max", os.O_RDWR}, {"sessions/pids.current", os.O_RDONLY}, {"sessions/cgroup.procs", os.O_RDWR}, {"init/cgroup.procs", os.O_RDONLY}} {
		f, err := os.OpenFile(pidsMount+"/"+x.name, x.flag, 0)
		if err != nil {
			for _, f := range files {
				f.Close()
			}
			return err
		}
		files = append(files, f)
	}
	p.sessions, p.max, p.current, p.procs, p.outside = files[0], files[1], files[2], files[3], files[4]
	return nil
}

// enablePids moves what runs out of the root first: a cgroup with processes of its own cannot give controllers to others.
func enablePids() (err error) {
	for range maxSweeps {
		data, err := os.ReadFile(pidsMount + "/cgroup.procs")
		if err != nil {
			return err
		}
		for _, pid := range bytes.Fields(data) {
			_ = os.WriteFile(pidsMount+"/init/cgroup.procs", pid, 0)
		}
		if err = os.WriteFile(pidsMount+"/cgroup.subtree_control", []byte("+pids"), 0); err == nil || !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
	return err
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
