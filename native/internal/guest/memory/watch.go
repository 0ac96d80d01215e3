package memory

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"torpor.dev/torpor/native/internal/guest/process"
)

const (
	// A process that touches new pages as fast as it can takes no more than this a second.
	growthBytesPerSecond = 4 << 30
	minInterval          = 5 * time.Millisecond
	maxInterval          = 250 * time.Millisecond
	minMarginBytes       = 8 << 20
	marginPercent        = 3
	engineMark           = "/proc/gvisor" // other kernels count the host's memory here, and kill by themselves
)

// Watch looks the more often the less memory is left, so that an idle sandbox pays four reads a second.
type Watch struct {
	mark  func(pid int) // told before the process is killed
	kills atomic.Uint64

	mu    sync.Mutex
	limit uint64
	stop  chan struct{}
}

// NewWatch makes a watch that does nothing until it has a limit.
func NewWatch(mark func(pid int)) *Watch { return &Watch{mark: mark} }

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
	killed := 0
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
			if left < margin {
				killed = w.relieve(killed)
			} else {
				killed = 0
			}
			next = Interval(left)
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

// relieve kills the largest process. One that was killed at the last look and is still there is being torn down: another
// one must not go for it.
func (w *Watch) relieve(last int) int {
	if last > 0 {
		if info, ok := process.Read(last); ok && info.State != 'Z' && info.State != 'X' {
			return last
		}
	}
	pid := largest()
	if pid == 0 {
		return 0
	}
	w.mark(pid)
	if syscall.Kill(pid, syscall.SIGKILL) == nil {
		w.kills.Add(1)
	}
	return pid
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
