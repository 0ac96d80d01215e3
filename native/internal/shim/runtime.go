package shim

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/children"
	"torpor.dev/torpor/native/internal/host"
	"torpor.dev/torpor/native/internal/pace"
	"torpor.dev/torpor/native/internal/pages"
)

// Runtime is the one runtime of this shim.
type Runtime struct {
	dir    dir
	config Config
	engine engine
	calls  calls
	root   host.Root
	cgroup host.Cgroup
	link   *channel

	launching sync.Mutex // held over a launch
	turning   sync.Mutex // held over a freeze or thaw, a hold or its end

	mu       sync.Mutex
	state    state
	leaving  bool // destroy has begun: an end is no news
	adopted  map[int]syscall.WaitStatus
	onEnd    func(End)
	onHold   func(*Hold)
	gone     chan struct{} // closed when it ended or is being destroyed
	left     sync.Once
	load     *pace.Load // of the memory, while it gives way
	base     *pages.Base
	shared   *os.File // the pages of the last pause that shared the base's
	oomsSeen int64
}

// Open reads the runtime's directory. A runtime that is live already (its shim was killed) is taken over.
func Open(path string, onEnd func(End), onHold func(*Hold)) (*Runtime, error) {
	r := &Runtime{dir: dir(path), adopted: map[int]syscall.WaitStatus{}, onEnd: onEnd, onHold: onHold, gone: make(chan struct{})}
	var err error
	if r.config, err = readConfig(r.dir.config()); err != nil {
		return nil, fmt.Errorf("read the runtime's description: %w", err)
	}
	reaper, err := children.NewReaper(r.reaped)
	if err != nil {
		return nil, err
	}
	r.engine = engine{command: r.config.Engine, id: r.config.ContainerID, reaper: reaper, flight: &flight{pids: map[int]struct{}{}}}
	r.calls = callsOf(r.config, r.engine)
	r.root = host.Root{Disk: r.config.Disk, Image: r.config.Image, Dir: path}
	r.cgroup = host.Cgroup{Path: r.config.Cgroup}
	r.link = newChannel(r)
	if err := readJSON(r.dir.state(), &r.state); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if r.state.Phase == "live" {
		r.takeOver()
	}
	return r, nil
}

// SyncDisk has the disk of the frozen runtime whole in its block image.
func (r *Runtime) SyncDisk() error {
	if !r.isFrozen() {
		return errors.New("a disk is synced while its runtime is frozen")
	}
	return r.syncDisk()
}

// syncDisk writes the disk's dirty pages to its block image.
func (r *Runtime) syncDisk() error {
	if err := r.root.Sync(); err == nil {
		return nil
	}
	// A shim that took over is in another mount namespace: any process of the sandbox has the root in its own.
	for _, pid := range r.cgroup.Pids() {
		f, err := os.Open(fmt.Sprintf("/proc/%d/root", pid))
		if err != nil {
			continue
		}
		var stat unix.Statfs_t
		isOverlay := unix.Fstatfs(int(f.Fd()), &stat) == nil && stat.Type == unix.OVERLAYFS_SUPER_MAGIC
		if isOverlay {
			err = unix.Syncfs(int(f.Fd()))
		}
		f.Close()
		if isOverlay {
			return err
		}
	}
	return errors.New("the disk's file system is not mounted anywhere")
}

// Status is the runtime's state as the daemon asks for it.
func (r *Runtime) Status() (string, *End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.Phase == "live" && r.state.Frozen:
		return "frozen", nil
	case r.state.Phase == "live":
		return "running", nil
	case r.state.Phase == "ended":
		return "ended", r.state.End
	default:
		return "absent", nil
	}
}

// Destroy ends a launch at work, frees everything, and removes the directory.
func (r *Runtime) Destroy() error {
	r.mu.Lock()
	r.leaving = true
	r.mu.Unlock()
	r.leave()
	r.engine.flight.end()
	r.launching.Lock()
	defer r.launching.Unlock()
	if err := r.Release(); err != nil {
		return err
	}
	return os.RemoveAll(string(r.dir))
}

// Release kills what runs and frees every host resource but the directory. It can be repeated.
func (r *Runtime) Release() error {
	r.mu.Lock()
	r.leaving = true
	// What a killed command had started may not be in the group yet; whose parent is gone is ours.
	pids := append(r.livePids(), ownChildren()...)
	r.mu.Unlock()
	r.hurryLoad()
	r.link.close()
	return release(r.root, r.dir, r.config, pids)
}

func (r *Runtime) livePids() []int {
	if r.state.Phase == "live" && startTime(r.state.Pid) == r.state.Start {
		return []int{r.state.Pid}
	}
	return nil
}

func release(root host.Root, d dir, config Config, pids []int) error {
	failpoint("release.begun")
	cgroup := host.Cgroup{Path: config.Cgroup}
	// The kernel takes as long to end an interface (25 ms) as all the rest does: beside it.
	network := make(chan error, 1)
	go func() { network <- host.DropNamespace(d.namespace(), config.Network) }()
	freed := freeMemory(pids)
	defer freed()
	if err := killAll(cgroup, pids); err != nil {
		return errors.Join(err, <-network)
	}
	failpoint("release.killed")
	removed := make(chan error, 1)
	go func() { removed <- cgroup.Remove() }()
	unmounted := root.Unmount()
	failpoint("release.unmounted")
	err := errors.Join(unmounted, <-removed, <-network)
	failpoint("release.freed")
	return err
}

// killAll kills until the group is empty: a kill may race with a fork.
func killAll(cgroup host.Cgroup, pids []int) error {
	for tries := 0; ; tries++ {
		_ = cgroup.Thaw() // what version 1 has frozen does not die
		if err := killAndWait(append(pids, cgroup.Pids()...), 30*time.Second); err != nil {
			return err
		}
		if len(cgroup.Pids()) == 0 || tries == 100 {
			return nil
		}
	}
}

// reaped is told of the ends of processes that became the shim's: the sentry among them.
func (r *Runtime) reaped(pid int, status syscall.WaitStatus) {
	r.mu.Lock()
	mine := r.state.Phase == "live" && r.state.Pid == pid
	if r.state.Phase != "live" {
		r.adopted[pid] = status
	}
	r.mu.Unlock()
	if mine {
		r.ended(pid, status)
	}
}

func (r *Runtime) ended(pid int, status syscall.WaitStatus) {
	end := End{Reason: "exited", Message: fmt.Sprintf("the sandbox's first process exited with code %d", status.ExitStatus())}
	code := status.ExitStatus()
	end.ExitCode = &code
	if status.Signaled() {
		end = End{Reason: "killed", Message: "the engine was killed by " + unix.SignalName(status.Signal())}
		if r.cgroup.OOMKills() > r.oomsSeen {
			end = End{Reason: "oom", Message: "the host's kernel ended the engine: the sandbox outgrew its hard memory limit"}
		}
	}
	r.finish(end)
}

func (r *Runtime) finish(end End) {
	r.mu.Lock()
	r.state.Phase, r.state.End = "ended", &end
	current, leaving := r.state, r.leaving
	r.mu.Unlock()
	r.leave()
	if !leaving {
		_ = writeJSON(r.dir.state(), current)
		r.link.close()
		r.onEnd(end)
	}
}

// takeOver goes on where a killed shim was. The sandbox's processes are not our children now: a pidfd tells their end.
func (r *Runtime) takeOver() {
	fd, err := unix.PidfdOpen(r.state.Pid, 0)
	if err != nil || startTime(r.state.Pid) != r.state.Start {
		r.finish(End{Reason: "lost", Message: "the runtime ended while nobody watched it"})
		return
	}
	r.oomsSeen = r.cgroup.OOMKills()
	r.takeOverFreeze()
	go func() {
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if n > 0 || (err != nil && err != unix.EINTR) {
				break
			}
		}
		_ = unix.Close(fd)
		reason := End{Reason: "lost", Message: "the runtime ended; its exit status went to another process"}
		if r.cgroup.OOMKills() > r.oomsSeen {
			reason = End{Reason: "oom", Message: "the host's kernel ended the engine: the sandbox outgrew its hard memory limit"}
		}
		r.finish(reason)
	}()
}

func (r *Runtime) record(next state) error {
	r.mu.Lock()
	r.state = next
	r.mu.Unlock()
	return writeJSON(r.dir.state(), next)
}
