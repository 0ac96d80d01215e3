// Package trim gives blocks of a loop-backed pool back to the host: those that are free in the pool's file system, and still held by its file.
package trim

import (
	"os"
	"time"

	"torpor.dev/torpor/native/internal/sparse"
)

const (
	// stepBytes: the host's file system lets no write to the pool's file in while it takes blocks out of it. Measured on ext4: 20 to 100 ms for each.
	stepBytes = 64 << 20
	// rest after each step, in times of what it took: whoever syncs a checkpoint meanwhile waits for one step, seldom for two.
	rest = 8
	// longestLook: some of it may be in use again, and stays.
	longestLook = time.Second
	look        = 2 * time.Millisecond
)

// Range is of bytes, of the device as of its file.
type Range struct{ start, length int64 }

// Down gives blocks back until at most keep bytes of them are left, and says how many are. The last first: file systems fill from their start.
func Down(pool, file string, keep int64) (spare int64, err error) {
	in, err := os.Open(pool)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	under, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer under.Close()
	ranges, err := spareRanges(in, under)
	if err != nil {
		return 0, err
	}
	spare = total(ranges)
	if spare <= keep {
		return spare, nil
	}
	for i := len(ranges) - 1; i >= 0 && spare > keep; i-- {
		for end := ranges[i].start + ranges[i].length; end > ranges[i].start && spare > keep; {
			length := min(stepBytes, end-ranges[i].start, roundUp(spare-keep))
			began := time.Now()
			if err := giveBack(in, under, Range{end - length, length}); err != nil {
				return 0, err
			}
			end -= length
			spare -= length
			time.Sleep(rest * time.Since(began))
		}
	}
	// What was just being used again, or freed, is not what was counted.
	ranges, err = spareRanges(in, under)
	return total(ranges), err
}

// giveBack waits until the blocks are gone: kernels from 6.6 on answer before.
func giveBack(pool, file *os.File, each Range) error {
	if err := discard(pool, each); err != nil {
		return err
	}
	for deadline := time.Now().Add(longestLook); time.Now().Before(deadline); time.Sleep(look) {
		if held, err := heldRanges(file, each); err != nil || len(held) == 0 {
			return err
		}
	}
	return nil
}

// spareRanges are what is free in the file system and not a hole of the file.
func spareRanges(pool, file *os.File) ([]Range, error) {
	free, err := freeRanges(pool)
	if err != nil {
		return nil, err
	}
	var spare []Range
	for _, each := range free {
		held, err := heldRanges(file, each)
		if err != nil {
			return nil, err
		}
		spare = append(spare, held...)
	}
	return spare, nil
}

// heldRanges are the parts that the file has blocks for.
func heldRanges(file *os.File, within Range) (held []Range, err error) {
	end := within.start + within.length
	for at := within.start; at < end; {
		data, hole, err := sparse.NextData(file, at)
		if err != nil {
			return nil, os.NewSyscallError("lseek", err)
		}
		if data < 0 || data >= end {
			break
		}
		at = min(hole, end)
		held = append(held, Range{data, at - data})
	}
	return held, nil
}

func total(ranges []Range) (sum int64) {
	for _, each := range ranges {
		sum += each.length
	}
	return sum
}

// roundUp: a step is whole blocks, of file systems and of devices.
func roundUp(bytes int64) int64 {
	const whole = 1 << 20
	return (bytes + whole - 1) / whole * whole
}
