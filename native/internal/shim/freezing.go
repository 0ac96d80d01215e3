package shim

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Hold is a stop of a runtime that wrote while its pool ran full. Who writes would be told of success, and lose it at the write-out.
type Hold struct {
	Since     time.Time `json:"since"`
	FreeBytes int64     `json:"freeBytes"`
	// Lost: what it had written before could not all be written out.
	Lost string `json:"lost,omitempty"`
}

// errHeld: the engine itself is stopped, and can't be asked for anything.
var errHeld = fmt.Errorf("the sandbox is held: %w", unix.ENOSPC)

// Freeze stops everything inside.
func (r *Runtime) Freeze() error {
	r.turning.Lock()
	defer r.turning.Unlock()
	if r.isFrozen() {
		return nil
	}
	if r.held() != nil {
		return errHeld
	}
	r.hurryLoad() // a capture waits for all of it
	return r.change("freeze", true, r.calls.Pause)
}

// Thaw lets it go on.
func (r *Runtime) Thaw() error {
	r.turning.Lock()
	defer r.turning.Unlock()
	if !r.isFrozen() {
		return nil
	}
	if pages := r.takeShared(); pages != nil {
		_ = pages.Close() // of a pause that failed
	}
	return r.change("thaw", false, r.calls.Resume)
}

// hold stops it until release, and brings to the pool what it had written. One that the daemon has frozen writes nothing, and need not be held.
// The kernel's freezer does it, not the engine: it needs nobody's help, and the engine may be short of CPU time.
func (r *Runtime) hold(freeBytes int64) error {
	r.turning.Lock()
	defer r.turning.Unlock()
	if r.isFrozen() || r.held() != nil {
		return nil
	}
	// First of all; that is told and written down afterwards.
	if err := r.cgroup.Freeze(); err != nil {
		return err
	}
	hold := &Hold{Since: time.Now().UTC(), FreeBytes: freeBytes}
	failpoint("hold.begun")
	if err := r.recordHold(hold); err != nil {
		return errors.Join(err, r.cgroup.Thaw())
	}
	failpoint("hold.written")
	settled := r.settle(*hold)
	err := r.recordHold(&settled)
	r.onHold(&settled)
	return err
}

// settle brings what a held one had written to the pool. A process that was in the middle of a write ends it first.
func (r *Runtime) settle(hold Hold) Hold {
	err := r.syncDisk()
	if !r.cgroup.IsFrozen() {
		deadline := time.Now().Add(settleTime)
		for !r.cgroup.IsFrozen() && time.Now().Before(deadline) {
			time.Sleep(shortestLook)
		}
		err = errors.Join(err, r.syncDisk())
	}
	hold.Lost = ""
	if err != nil {
		fmt.Fprintln(os.Stderr, "torpor-shim: the disk of a held sandbox could not be synced:", err)
		hold.Lost = err.Error()
	}
	return hold
}

// settleTime is for a write of a gigabyte at the speed of a slow disk.
const settleTime = 30 * time.Second

// release lets a held one go on.
func (r *Runtime) release() error {
	r.turning.Lock()
	defer r.turning.Unlock()
	hold := r.held()
	if hold == nil {
		return nil
	}
	failpoint("hold.end.begun")
	// First: one that is not written down is let go by a shim that takes over.
	if err := r.recordHold(nil); err != nil {
		return errors.Join(err, r.recordHold(hold))
	}
	failpoint("hold.end.written")
	if err := r.cgroup.Thaw(); err != nil {
		return errors.Join(err, r.recordHold(hold))
	}
	r.onHold(nil)
	return nil
}

// change notes what it is about to do, so that a shim that takes over in between knows that it has to find out.
func (r *Runtime) change(name string, frozen bool, call func() error) error {
	if err := r.recordFrozen(!frozen, true); err != nil {
		return err
	}
	failpoint(name + ".begun")
	if err := call(); err != nil {
		return errors.Join(err, r.recordFrozen(!frozen, false))
	}
	failpoint(name + ".called")
	if err := r.recordFrozen(frozen, false); err != nil {
		return err
	}
	failpoint(name + ".done")
	return nil
}

// takeOverFreeze finds out how a change ended that a killed shim had begun. What the kernel has stopped is held, whatever was written down.
func (r *Runtime) takeOverFreeze() {
	hold := r.held()
	if hold == nil && r.cgroup.IsFrozen() {
		hold = &Hold{Since: time.Now().UTC()}
	}
	if hold != nil {
		if err := r.cgroup.Freeze(); err != nil {
			fmt.Fprintln(os.Stderr, "torpor-shim: a held sandbox can't be stopped:", err)
		}
		settled := r.settle(*hold)
		_ = r.recordHold(&settled)
		return
	}
	if r.state.Changing {
		_ = r.recordFrozen(r.findOutFrozen(), false)
	}
}

func (r *Runtime) isFrozen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Frozen
}

// isStopped says whether anything in it can run.
func (r *Runtime) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Frozen || r.state.Hold != nil
}

func (r *Runtime) held() *Hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Hold
}

func (r *Runtime) recordFrozen(frozen, changing bool) error {
	return r.revise(func(s *state) { s.Frozen, s.Changing = frozen, changing })
}

func (r *Runtime) recordHold(hold *Hold) error {
	return r.revise(func(s *state) { s.Hold = hold })
}

func (r *Runtime) revise(change func(*state)) error {
	r.mu.Lock()
	change(&r.state)
	current := r.state
	r.mu.Unlock()
	return writeJSON(r.dir.state(), current)
}

// leave ends what goes on beside the runtime.
func (r *Runtime) leave() { r.left.Do(func() { close(r.gone) }) }
