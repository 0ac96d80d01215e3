package shim

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/host"
)

const (
	// Faster than this a pool does not fill, with every writer of the host at the speed of its memory.
	fillBytesPerSecond = 8 << 30
	shortestLook       = 20 * time.Millisecond
	heldLook           = 200 * time.Millisecond
	longestLook        = 5 * time.Second
	// One that writes less than this once the reserve is touched is no danger to it: all of them together write a quarter of it.
	largestAllowance  = 4 << 20
	smallestAllowance = 256 << 10
)

// watchRoom looks after the room for what this sandbox writes as long as it lives, with or without a daemon. While room is far it looks
// seldom: as often as it takes to be there before the reserve can be used up.
func (r *Runtime) watchRoom() {
	if r.config.Storage == nil {
		return
	}
	hurry()
	watch := watch{storage: *r.config.Storage, cgroup: r.cgroup, disk: r.config.Disk}
	said := ""
	for {
		wait := longestLook
		if !watch.storage.Far(fillBytesPerSecond * int64(longestLook/time.Second)) {
			var err error
			if wait, err = r.lookAtRoom(&watch); err != nil && err.Error() != said {
				said = err.Error()
				fmt.Fprintln(os.Stderr, "torpor-shim: for want of room on the pool:", said)
			}
		}
		select {
		case <-r.gone:
			return
		case <-time.After(wait):
		}
	}
}

// hurry keeps this goroutine on a thread that comes before all that sandboxes do: those who write fastest leave no CPU time to anybody
// else. Measured with six of them on two CPUs, looks that should be 20 ms apart were 200 ms apart without it. What it starts does not inherit it.
func hurry() {
	runtime.LockOSThread()
	first := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, &first, 0) != nil { // as where real-time groups have no share
		nice := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
		_ = unix.SchedSetAttr(0, &nice, 0)
	}
}

// lookAtRoom does what has to be done now, and says when to look again.
func (r *Runtime) lookAtRoom(w *watch) (time.Duration, error) {
	room, err := w.storage.Room(r.cgroup.Parent().DirtyBytes())
	if err != nil {
		room = 0 // who can't tell must not go on as if there were some
	}
	if room < w.storage.ReserveBytes+w.storage.ReserveBytes/2 {
		r.dropBase()
	}
	held := r.held() != nil
	return w.untilNextLook(room, held), errors.Join(err, r.act(w.decide(room, held), room))
}

func (r *Runtime) act(what decision, room int64) error {
	switch {
	case what == stopIt:
		return r.hold(room)
	case what == letGo:
		return r.release()
	}
	return nil
}

type decision int

const (
	leaveIt decision = iota
	stopIt
	letGo
)

// watch is what is known between two looks.
type watch struct {
	storage host.Storage
	cgroup  host.Cgroup
	disk    string
	device  string // of the disk, once it was needed
	// So much had been written at the last look before the reserve was touched; known: there was a look.
	written int64
	known   bool
	sharers int
	// spared: it was held only because there was next to no room for anybody.
	spared bool
	// count gives what it has written so far, and how many share the reserve. Tests have their own.
	count func() (int64, int)
}

// decide: below the reserve those are stopped that write, below the last of it everybody; and they go on when there is room again, with
// as much above the reserve as they could write before the next look.
func (w *watch) decide(room int64, held bool) decision {
	reserve := w.storage.ReserveBytes
	last := reserve / 12
	written, sharers := w.counted()
	w.sharers = sharers
	if room >= reserve || !w.known {
		w.known, w.written = true, written
	}
	switch {
	case held && (room >= reserve+reserve/2 || w.spared && room >= 2*last):
		w.spared = false
		return letGo
	case held || room >= reserve:
		return leaveIt
	}
	wrote := written-w.written > allowance(reserve, sharers)
	if wrote || room < last {
		w.spared = !wrote
		return stopIt
	}
	return leaveIt
}

func (w *watch) counted() (int64, int) {
	if w.count != nil {
		return w.count()
	}
	if w.device == "" {
		w.device = host.LoopOf(w.disk)
	}
	return host.WrittenBytes(w.device) + w.cgroup.DirtyBytes(), w.cgroup.Parent().Children()
}

func allowance(reserve int64, sharers int) int64 {
	return min(max(reserve/4/int64(max(sharers, 1)), smallestAllowance), largestAllowance)
}

// untilNextLook: one that is held has nothing to lose, and many that share the reserve share the work of looking, for which it is large enough.
func (w *watch) untilNextLook(room int64, held bool) time.Duration {
	if held {
		return heldLook
	}
	if room < w.storage.ReserveBytes {
		return min(shortestLook*time.Duration(1+w.sharers/8), heldLook)
	}
	spare := max(room-w.storage.ReserveBytes, 0)
	wait := time.Duration(float64(spare) / fillBytesPerSecond * float64(time.Second))
	return min(max(wait, shortestLook), longestLook)
}
