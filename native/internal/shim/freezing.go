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

// Freeze stops everything inside.
func (r *Runtime) Freeze() error {
	r.turning.Lock()
	defer r.turning.Unlock()
	if r.isFrozen() {
		return nil
	}
	if r.held() != nil {
		return r.recordFrozen(true, false)
	}
	return r.change("freeze", true, r.calls.Pause)
}

// Thaw lets it go on, or, while it is held, lets the end of that do so.
func (r *Runtime) Thaw() error {
	r.turning.Lock()
	defer r.turning.Unlock()
	if !r.isFrozen() {
		return nil
	}
	if r.held() != nil {
		return r.recordFrozen(false, false)
	}
	return r.change("thaw", false, r.calls.Resume)
}

// hold stops it until release, and brings to the pool what it had written. One that the daemon has frozen writes nothing, and need not be held.
func (r *Runtime) hold(freeBytes int64) error {
	r.turning.Lock()
	defer r.turning.Unlock()
	if r.isFrozen() || r.held() != nil {
		return nil
	}
	hold := &Hold{Since: time.Now().UTC(), FreeBytes: freeBytes}
	if err := r.recordHold(hold, true); err != nil {
		return err
	}
	failpoint("hold.begun")
	if err := r.calls.Pause(); err != nil {
		return errors.Join(err, r.recordHold(nil, false))
	}
	failpoint("hold.called")
	if err := r.syncDisk(); err != nil {
		fmt.Fprintln(os.Stderr, "torpor-shim: the disk of a held sandbox could not be synced:", err)
		hold.Lost = err.Error()
	}
	err := r.recordHold(hold, false)
	r.onHold(hold)
	return err
}

// release lets a held one go on, unless the daemon has frozen it.
func (r *Runtime) release() error {
	r.turning.Lock()
	defer r.turning.Unlock()
	hold := r.held()
	if hold == nil {
		return nil
	}
	if !r.isFrozen() {
		if err := r.recordHold(hold, true); err != nil {
			return err
		}
		failpoint("hold.end.begun")
		if err := r.calls.Resume(); err != nil {
			return errors.Join(err, r.recordHold(hold, false))
		}
		failpoint("hold.end.called")
	}
	err := r.recordHold(nil, false)
	r.onHold(nil)
	return err
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

// takeOverFreeze finds out how a change ended that a killed shim had begun.
func (r *Runtime) takeOverFreeze() {
	if !r.state.Changing {
		return
	}
	stopped := r.findOutFrozen()
	if hold := r.held(); hold == nil {
		_ = r.recordFrozen(stopped, false)
	} else if stopped {
		// Its disk may not be synced yet.
		if err := r.syncDisk(); err != nil {
			hold.Lost = err.Error()
		}
		_ = r.recordHold(hold, false)
	} else {
		_ = r.recordHold(nil, false)
	}
}

// findOutFrozen: the engine can't be asked whether its tasks are stopped, and a resume too many ends it. A program that is started
// in a stopped sandbox waits; in one that runs it says its version at once.
func (r *Runtime) findOutFrozen() bool {
	output, input, err := os.Pipe()
	if err != nil {
		return false
	}
	defer output.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer null.Close()
	if err := r.calls.Exec([]string{r.config.Guest, "version"}, []*os.File{null, input, null}); err != nil {
		return false // calls will say why
	}
	_ = input.Close()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(output.Fd()), Events: unix.POLLIN}}, int(answerTime.Milliseconds()))
	return n == 0 && err == nil
}

// answerTime is generous: a start inside takes 10 ms.
const answerTime = 3 * time.Second

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

func (r *Runtime) recordHold(hold *Hold, changing bool) error {
	return r.revise(func(s *state) { s.Hold, s.Changing = hold, changing })
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
