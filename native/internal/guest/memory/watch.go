package memory

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/process"
)

const (
	// A process that touches new pages as fast as it can takes no more than this a second.
	growthBytesPerSecond = 4 << 30
	minInterval          = 5 * time.Millisecond
	maxInterval          = 250 * time.Millisecond
	minMarginBytes       = 8 << 20
	marginPercent        = 3
	// The engine's own memory for a task, and how many it has room for anyway. 200 processes that sleep were seen to take
	// 32 MB of it; 200 shells at their limit, which try to fork all the time, 200 MB with the garbage that this makes.
	taskBytes      = 256 << 10
	swarmTaskBytes = 1280 << 10
	freeTasks      = 32
	settleTime     = 200 * time.Millisecond
	swarmSize      = 16
	engineMark     = "/proc/gvisor" // other kernels count the host's memory here, and kill by themselves
)

// Watch looks the more often the less memory is left, so that an idle sandbox pays four reads a second.
type Watch struct {
	mark  func(pid int) // told before the process is killed
	tasks Tasks
	kills atomic.Uint64

	mu    sync.Mutex
	limit uint64
	stop  chan struct{}
}

// Tasks counts the sandbox's tasks, and can keep new ones from being made.
type Tasks interface {
	Tasks() (tasks, limit int)
	Pids() []int
	StopForks() (resume func())
}

// NewWatch makes a watch that does nothing until it has a limit.
func NewWatch(mark func(pid int), tasks Tasks) *Watch { return &Watch{mark: mark, tasks: tasks} }

// Kills is how many processes it has ended.
func (w *Watch) Kills() uint64 { return w.kills.Load() }

// SetLimit starts, changes or (0) ends the watch.
func (w *Watch) SetLimit(limit uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := os.Stat(engineMark); err != nil || limit == w.limit {
		return
	}
	if w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
	if w.limit = limit; limit > 0 {
		w.stop = make(chan struct{})
		go w.run(limit, w.stop)
	}
}

func (w *Watch) run(limit uint64, stop <-chan struct{}) {
	file, err := os.Open(meminfo)
	if err != nil {
		return
	}
	defer file.Close()
	buffer := make([]byte, 4096)
	margin := Margin(limit)
	nap := time.NewTimer(0)
	defer nap.Stop()
	var last victim
	for {
		select {
		case <-stop:
			return
		case <-nap.C:
		}
		next := maxInterval
		n, _ := file.ReadAt(buffer, 0)
		if info, err := parseInfo(buffer[:n]); err == nil {
			left := info.left(limit)
			tasks, most := w.tasks.Tasks()
			// A bomb can reach its limit before the next look: that one is due by what it would take.
			next = Interval(left - min(left, uint64(tasks)*swarmTaskBytes))
			left -= min(left, overhead(tasks, most))
			if left < margin && last.settled(time.Now()) {
				last = w.relieve()
			}
		}
		nap.Reset(next)
	}
}

// left is what may still be taken of the promised memory.
func (i Info) left(limit uint64) uint64 {
	used := i.Total - min(i.Available, i.Total)
	return min(i.Available, limit-min(used, limit))
}

// Margin is how little may be left before a process has to go.
func Margin(limit uint64) uint64 { return max(limit/100*marginPercent, minMarginBytes) }

// Interval is the time in which what is left cannot be used up.
func Interval(left uint64) time.Duration {
	t := time.Duration(float64(left) / growthBytesPerSecond * float64(time.Second))
	return min(max(t, minInterval), maxInterval)
}

// overhead is what the engine itself takes for many tasks, which /proc/meminfo does not count and the host's cgroup does.
func overhead(tasks, limit int) uint64 {
	if atLimit(tasks, limit) {
		return uint64(tasks) * swarmTaskBytes
	}
	return uint64(max(tasks-freeTasks, 0)) * taskBytes
}

func atLimit(tasks, limit int) bool { return limit > 0 && tasks >= limit-limit/10 }

// victim is the last process that was killed.
type victim struct {
	pid  int
	seen time.Time // when it last was there
}

// settled says whether the memory of the last victim must be back by now: the engine gives it back some time after the
// process is gone, and nobody else must go for that.
func (v *victim) settled(now time.Time) bool {
	if v.pid == 0 {
		return true
	}
	if info, ok := process.Read(v.pid); ok && info.State != 'Z' && info.State != 'X' {
		v.seen = now
	}
	return now.Sub(v.seen) > settleTime
}

// relieve ends the largest process, or where a swarm of small ones fills the memory their whole session.
func (w *Watch) relieve() victim {
	if tasks, limit := w.tasks.Tasks(); atLimit(tasks, limit) {
		if killed := w.relieveOfSwarm(); killed.pid != 0 {
			return killed
		}
	}
	pid := largest()
	if pid == 0 {
		return victim{}
	}
	w.mark(pid)
	if syscall.Kill(pid, syscall.SIGKILL) != nil {
		return victim{}
	}
	w.kills.Add(1)
	return victim{pid, time.Now()}
}

// relieveOfSwarm kills the session with the most processes. It avoids /proc: while a fork bomb has the processors, reading
// two files a process takes seconds, and by then the host has ended the sandbox.
func (w *Watch) relieveOfSwarm() victim {
	resume := w.tasks.StopForks()
	defer resume()
	sessions, most := map[int][]int{}, 0
	for _, pid := range w.tasks.Pids() {
		if session, err := unix.Getsid(pid); err == nil {
			sessions[session] = append(sessions[session], pid)
			if len(sessions[session]) > len(sessions[most]) {
				most = session
			}
		}
	}
	swarm := sessions[most]
	if len(swarm) < swarmSize {
		return victim{}
	}
	w.mark(swarm[0])
	for _, pid := range swarm {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.kills.Add(1)
	return victim{swarm[len(swarm)-1], time.Now()}
}

// largest is the process with the most resident memory among all but PID 1 and what was started from outside.
func largest() (found int) {
	most := uint64(0)
	for _, pid := range process.List() {
		if pid == os.Getpid() {
			continue
		}
		if pages := residentPages(pid); pages > most && process.ParentOf(pid) > 0 {
			most, found = pages, pid
		}
	}
	return found
}

func residentPages(pid int) uint64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(data)
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n
}
