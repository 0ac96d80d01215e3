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
	// 32 MB of it, the 460 shells of a fork bomb on its way to its limit 225 MB, and 200 shells at their limit, which try to
	// fork all the time, 200 MB with the garbage that this makes.
	taskBytes      = 512 << 10
	swarmTaskBytes = 1280 << 10
	// What a new one takes, in the engine and in the sandbox: a shell was seen to take 750 KB.
	newTaskBytes = 1 << 20
	// So many are always allowed: the host's head-room carries them, and a command that comes right after a process was
	// killed for its memory must not fail.
	anywayTasks = 64
	freeTasks   = 128
	settleTime  = 200 * time.Millisecond
	// Memory that stays full may be exceeded by this before any process goes for it: the host's head-room, 384 MiB at least,
	// carries it.
	beyondBytes = 320 << 20
	// What may come while memory is full and stay: a Python was seen to take 30 MB, a line of a shell with four programs 15.
	// Files get no more than the margin, since what is written stays.
	commandBytes = 64 << 20
	swarmSize    = 16
	// A session whose tasks cost the engine a quarter of the memory is what fills it.
	swarmShare = 4
	engineMark = "/proc/gvisor" // other kernels count the host's memory here, and kill by themselves
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
	// Allow bounds the tasks until it is called again.
	Allow(tasks int)
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
			engine := overhead(tasks, most)
			left -= min(left, engine)
			// And between two looks it makes no more than there is memory for: beside hundreds of processes that want the
			// processor this one was seen to get it once a second.
			w.tasks.Allow(allowance(tasks, left, margin))
			// Whoever is ended now gives back what is held, not what is on its way to the host anyway.
			free := limit - min(info.Held+engine, limit)
			switch settled := last.settled(time.Now()); {
			case !settled:
			case info.Used > limit+beyondBytes, free < margin && (engine > 0 || last.outgrown(info, margin)):
				last = w.relieve(limit)
			case free >= margin+commandBytes:
				last = victim{}
			case free >= margin:
				last.held, last.files = info.Held, info.Files
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

// allowance is how many tasks there may be: new ones only as far as the memory left carries them. It is rounded, so that
// what a sandbox does in its memory does not change it all the time.
func allowance(tasks int, left, margin uint64) int {
	if left < margin {
		return max(tasks, anywayTasks)
	}
	room := int((left - margin) / newTaskBytes)
	return max(tasks+room-room%allowanceStep(room), anywayTasks)
}

func allowanceStep(room int) int {
	step := 1
	for step < room/8 {
		step *= 2
	}
	return step
}

func atLimit(tasks, limit int) bool { return limit > 0 && tasks >= limit-limit/10 }

// victim is the last process that was killed, until there is memory again.
type victim struct {
	pid  int       // 0: none
	seen time.Time // when it last was there
	// What was held when there last was room, or the least since it is gone.
	held, files uint64
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

// outgrown says whether more is held than after the last victim. What it wrote into files in memory stays, and the commands
// that come to look at them and to remove them must not go for that.
func (v *victim) outgrown(info Info, margin uint64) bool {
	if v.pid == 0 {
		return true
	}
	if v.held == 0 {
		v.held, v.files = info.Held, info.Files
	}
	v.held, v.files = min(v.held, info.Held), min(v.files, info.Files)
	return info.Held > v.held+commandBytes || info.Files > v.files+margin
}

// relieve ends the largest process, or where a swarm of small ones fills the memory their whole session.
func (w *Watch) relieve(limit uint64) victim {
	if killed := w.relieveOfSwarm(limit); killed.pid != 0 {
		return killed
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
	return victim{pid: pid, seen: time.Now()}
}

// relieveOfSwarm kills the session with the most processes, if they are what fills the memory. It does so by few calls and
// without /proc: while a fork bomb has the processors, reading two files a process takes seconds.
func (w *Watch) relieveOfSwarm(limit uint64) victim {
	tasks, most := w.tasks.Tasks()
	pids := w.tasks.Pids()
	session, share := largestSession(sample(pids))
	if !isSwarm(int(share*float64(len(pids))), limit, atLimit(tasks, most)) {
		return victim{}
	}
	resume := w.tasks.StopForks()
	defer resume()
	w.mark(session)
	if group, err := unix.Getpgid(session); err != nil || group == session {
		_ = syscall.Kill(-session, syscall.SIGKILL) // all of a plain bomb at once
	}
	for _, pid := range w.tasks.Pids() {
		if of, err := unix.Getsid(pid); err == nil && of == session {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	w.kills.Add(1)
	return victim{pid: session, seen: time.Now()}
}

func isSwarm(processes int, limit uint64, atLimit bool) bool {
	return processes >= swarmSize && (atLimit || uint64(processes)*taskBytes >= limit/swarmShare)
}

// sample takes enough of many for their kinds to be told.
func sample(pids []int) []int {
	const enough = 12 // each is a call, and beside a bomb a call was seen to take 10 ms
	if len(pids) <= enough {
		return pids
	}
	some := make([]int, 0, enough)
	for i := range enough {
		some = append(some, pids[i*len(pids)/enough])
	}
	return some
}

// largestSession gives the session that most of them belong to, and which share of them does.
func largestSession(pids []int) (session int, share float64) {
	counts, most := map[int]int{}, 0
	for _, pid := range pids {
		if of, err := unix.Getsid(pid); err == nil {
			if counts[of]++; counts[of] > most {
				session, most = of, counts[of]
			}
		}
	}
	return session, float64(most) / float64(max(len(pids), 1))
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
