package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/pages"
	"torpor.dev/torpor/native/internal/sentry"
)

// Capture writes the memory of the frozen runtime to location, and syncs its disk. forSeal: it stays frozen until the checkpoint is sealed, and the
// parts are hashed.
func (r *Runtime) Capture(location string, forSeal bool) ([]Part, error) {
	if !r.isFrozen() {
		return nil, errors.New("a capture needs a frozen runtime")
	}
	failpoint("capture.begun")
	ahead, err := r.writeMemory(location, forSeal)
	if err != nil {
		return nil, err
	}
	failpoint("capture.written")
	// The engine writes what the gofer holds back to the host during the checkpoint: the sync comes after it.
	synced := make(chan error, 1)
	go func() { synced <- r.syncDisk() }()
	parts, err := listParts(location)
	if forSeal && err == nil {
		err = digest(location, parts, ahead)
	}
	if err := errors.Join(err, <-synced); err != nil {
		return nil, err
	}
	failpoint("capture.done")
	return parts, nil
}

// writeMemory gives what it hashed of the pages. What is restored at once, as the children of a fork, comes quicker from a file that was just written.
func (r *Runtime) writeMemory(location string, forSeal bool) (*checksum.Ahead, error) {
	if forSeal {
		ahead, err := r.shareMemory(location)
		if ahead != nil {
			return ahead, nil
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "torpor-shim: the engine writes all of the memory:", err)
			sentry.Discard(location)
		}
	}
	room, err := r.claimRoom()
	if err != nil {
		return nil, err
	}
	behind := behind{location: location, room: room, settled: r.calls.Settled}
	behind.start(forSeal)
	err = r.calls.Checkpoint(location, r.mayHaveZeros(room))
	return behind.end(), err
}

// describer is an engine that can leave the pages to us.
type describer interface {
	Describe(dir string, leaveOutZeros bool, memory *os.File) (pages.Memory, error)
}

// shareMemory writes only what is other than in the checkpoint that the sandbox was restored from. It gives nothing if that is not known, or most is.
func (r *Runtime) shareMemory(location string) (*checksum.Ahead, error) {
	memory := r.openMemory()
	if memory == nil {
		return nil, nil
	}
	defer memory.Close()
	base := r.takeBase()
	if base == nil {
		return nil, nil
	}
	if !base.Resembles(memory) {
		go base.Close() // so that the host need not find other room for what is written now; the kernel takes a while
		return nil, nil
	}
	defer r.setBase(base) // the seal may fail, and the next pause come
	room, err := r.claimRoom()
	if err != nil {
		return nil, err
	}
	defer room.give()
	described, err := r.calls.(describer).Describe(location, mayHaveZeros(memory), memory)
	if err != nil {
		return nil, err
	}
	failpoint("capture.described")
	file, err := os.OpenFile(filepath.Join(location, sentry.PagesFile), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	written, err := pages.Write(file, described, base, room.shrink)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	r.setShared(file)
	return &written.Hash, nil
}

// openBase keeps the pages that a large sandbox is restored from for its next pause.
func (r *Runtime) openBase(location string) {
	if _, ok := r.calls.(describer); !ok {
		return
	}
	layout, err := sentry.Layout(location)
	if err == nil {
		var base *pages.Base
		if base, err = pages.OpenBase(filepath.Join(location, sentry.PagesFile), layout); err == nil {
			r.setBase(base)
			return
		}
	}
	if !errors.Is(err, unix.EOPNOTSUPP) { // as of a pool whose files can't share blocks
		fmt.Fprintln(os.Stderr, "torpor-shim: the next pause writes all of the memory:", err)
	}
}

// takeBase: who has it has it alone.
func (r *Runtime) takeBase() *pages.Base {
	r.mu.Lock()
	defer r.mu.Unlock()
	base := r.base
	r.base = nil
	return base
}

func (r *Runtime) setBase(base *pages.Base) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = base
}

// setShared keeps the pages that were written last.
func (r *Runtime) setShared(file *os.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shared != nil {
		_ = r.shared.Close()
	}
	r.shared = file
}

func (r *Runtime) takeShared() *os.File {
	r.mu.Lock()
	defer r.mu.Unlock()
	file := r.shared
	r.shared = nil
	return file
}

// dropBase gives the room of the base back.
func (r *Runtime) dropBase() bool {
	base := r.takeBase()
	if base == nil {
		return false
	}
	return base.Close() == nil
}
