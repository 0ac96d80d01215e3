package shim

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/sentry"
)

const (
	// freeingMinimum: less than this the kernel frees in a moment.
	freeingMinimum = 64 << 20
	// freeingStep: the kernel takes a whole range from the address spaces before it frees any of it. In steps that follow the sentry's own end
	// through the memory, each finds most of that done: 44 ms for 512 MiB, not 63.
	freeingStep = 8 << 20
)

// freeMemory frees the memory of a sandbox that is being killed beside the end of its sentry: that frees it page by page after its own address space,
// on one CPU, and takes half as long again. The function that it gives waits until it is free.
func freeMemory(pids []int) (freed func()) {
	memory := openMemory(pids)
	if memory == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer memory.Close()
		if info, err := memory.Stat(); err == nil && heldBytes(info) >= freeingMinimum {
			for at := int64(0); at < info.Size(); at += freeingStep {
				// What is left of it goes with its last user.
				if unix.Fallocate(int(memory.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, freeingStep) != nil {
					return
				}
			}
		}
	}()
	return func() { <-done }
}

func openMemory(pids []int) *os.File {
	for _, pid := range pids {
		if memory := sentry.OpenMemory(pid); memory != nil {
			return memory
		}
	}
	return nil
}

func heldBytes(info os.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }
