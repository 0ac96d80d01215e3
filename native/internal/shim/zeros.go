package shim

import (
	"bytes"
	"os"

	"torpor.dev/torpor/native/internal/sparse"
)

const (
	// zerosMinimum: in less memory the engine finds the pages of zeros in a moment, and they are a tenth of it.
	zerosMinimum = 128 << 20
	// Of memory with one page of zeros in a hundred, so many pages have one in 19 cases of 20.
	zerosSamples = 300
	pageBytes    = 4 << 10
)

// mayHaveZeros: what room was claimed for tells a small memory before it is looked for, 0.3 ms in which the sandbox is frozen.
func (r *Runtime) mayHaveZeros(room *claim) bool {
	if room.size > 0 && room.size < zerosMinimum {
		return true
	}
	memory := r.openMemory()
	if memory == nil {
		return true
	}
	defer memory.Close()
	return mayHaveZeros(memory)
}

func (r *Runtime) openMemory() *os.File {
	r.mu.Lock()
	pids := r.livePids()
	r.mu.Unlock()
	return openMemory(pids)
}

// mayHaveZeros says whether pages of zeros are worth looking for in a frozen sandbox's memory: the engine looks through a whole range before it writes
// any of it, 13 ms of 512 MiB in which the disk has nothing to do, and of most large memories none is. What can't be looked at may have them.
func mayHaveZeros(memory *os.File) bool {
	info, err := memory.Stat()
	if err != nil {
		return true
	}
	held := heldBytes(info)
	if held < zerosMinimum {
		return true
	}
	step := held / zerosSamples
	page, zeros := make([]byte, pageBytes), make([]byte, pageBytes)
	for at := step / 2; ; at += step {
		if at, err = sparse.FirstData(memory, at); err != nil {
			return true
		}
		if at < 0 {
			return false
		}
		if _, err := memory.ReadAt(page, at&^(pageBytes-1)); err != nil || bytes.Equal(page, zeros) {
			return true
		}
	}
}
