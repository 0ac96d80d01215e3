package sentry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"torpor.dev/torpor/native/internal/pages"
)

const (
	layoutFile = "pages_meta.img"
	// clockAt is where the sentry keeps the clocks that programs read without a call: behind the two pages of the vDSO, the first memory that it takes.
	clockAt   = 8 << 10
	clockSize = 4 << 10
	// describeTries: between the freeze and the checkpoint the sentry sets its clocks once in 50 cases, and not in the second after that.
	describeTries = 3
)

// ErrClockMoved: it is not known what the page of the clocks was when the checkpoint was made.
var ErrClockMoved = errors.New("the engine set its clocks meanwhile")

// Describe is a checkpoint of a paused sandbox without its pages: it says what they are, for somebody else to write from the memory. That stays as it
// is as long as the sandbox is paused but for one page.
func (c Control) Describe(dir string, leaveOutZeros bool, memory *os.File) (pages.Memory, error) {
	for try := 1; ; try++ {
		clock, err := c.describe(dir, leaveOutZeros, memory)
		if err == nil {
			layout, err := Layout(dir)
			return pages.Memory{File: memory, Layout: layout, Kept: clock}, errors.Join(err, fits(layout, memory))
		}
		if !errors.Is(err, ErrClockMoved) || try == describeTries {
			return pages.Memory{}, err
		}
		Discard(dir)
	}
}

// fits says what is wrong with a layout that can't be this memory's.
func fits(layout pages.Layout, memory *os.File) error {
	info, err := memory.Stat()
	if err != nil {
		return err
	}
	if n := len(layout); n > 0 && layout[n-1].End > info.Size() {
		return fmt.Errorf("the checkpoint has memory up to %d, and there are %d bytes", layout[n-1].End, info.Size())
	}
	if !layout.Has(clockAt) {
		return errors.New("the checkpoint is without the page of the clocks")
	}
	return nil
}

// describe gives the page of the clocks as the checkpoint has it. The engine refuses to restore one whose counter is another than in its own state. It
// adds two to the counter when it sets the clocks, as it does at the end of each checkpoint, before it answers (Timekeeper.Resume in
// pkg/sentry/kernel/timekeeper.go): if the counter is two further now, it was in the checkpoint what it had been before.
func (c Control) describe(dir string, leaveOutZeros bool, memory *os.File) (pages.Page, error) {
	before, err := readClock(memory)
	if err != nil {
		return before, err
	}
	if err := c.checkpoint(dir, os.DevNull, os.O_RDWR, leaveOutZeros); err != nil {
		return before, err
	}
	after, err := readClock(memory)
	if err != nil {
		return before, err
	}
	if from, to := counter(before), counter(after); to != from+2 || from%2 != 0 {
		return before, fmt.Errorf("%w: %d, then %d", ErrClockMoved, from, to)
	}
	return before, nil
}

func readClock(memory *os.File) (pages.Page, error) {
	page := pages.Page{At: clockAt, Bytes: make([]byte, clockSize)}
	_, err := memory.ReadAt(page.Bytes, page.At)
	return page, err
}

func counter(clock pages.Page) uint64 { return binary.LittleEndian.Uint64(clock.Bytes) }

// Layout is that of the pages of a checkpoint in the directory.
func Layout(dir string) (pages.Layout, error) {
	return pages.ReadLayout(filepath.Join(dir, layoutFile))
}

// Discard removes the files of a checkpoint that is not whole.
func Discard(dir string) {
	for _, name := range checkpointFiles {
		_ = os.Remove(filepath.Join(dir, name))
	}
}
