// Package checksum hashes checkpoint parts. The engine restores a checkpoint with flipped bytes without a word, so
// every byte is hashed when it is written and again before it is restored.
//
// The hash of a part is XXH3-128 over the XXH3-128 values of its 16 MiB segments, so that all CPUs can work on one file:
// reading, not hashing, is the limit (one thread: 8 to 12 GB/s).
package checksum

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"
)

// SegmentBytes is the size of a segment; the last of a file may be shorter.
const SegmentBytes = 16 << 20

const prefix = "xxh3-16m:"

// Segments is how many a file of that size has.
func Segments(size int64) int { return int((size + SegmentBytes - 1) / SegmentBytes) }

// File hashes the file at path; it returns its size too.
func File(path string) (string, int64, error) { return new(Ahead).Whole(path) }

// Ahead is what was hashed of a file before it was whole.
type Ahead struct {
	sums  []xxh3.Uint128
	bytes int64
}

// Hashed is a file of that size of which somebody else has hashed every segment.
func Hashed(sums []xxh3.Uint128, size int64) Ahead { return Ahead{sums, size} }

// Next hashes one more segment, if it ends within the first settled bytes: those that are not written again.
func (a *Ahead) Next(f *os.File, settled int64) (more bool, err error) {
	offset := int64(len(a.sums)) * SegmentBytes
	if offset+SegmentBytes > settled {
		return false, nil
	}
	sum, err := hashSegment(f, offset, settled)
	if err == nil {
		a.sums, a.bytes = append(a.sums, sum), offset+SegmentBytes
	}
	return err == nil, err
}

// Whole hashes the rest of the file, which is written now; it returns the hash of all of it, and its size.
func (a *Ahead) Whole(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	size := info.Size()
	count := Segments(size)
	if size < a.bytes {
		return "", 0, fmt.Errorf("read %s: it became shorter", path)
	}
	sums := append(a.sums, make([]xxh3.Uint128, count-len(a.sums))...)
	if err := hashSegments(f, size, sums, len(a.sums)); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	whole := xxh3.New()
	for _, sum := range sums {
		b := sum.Bytes()
		_, _ = whole.Write(b[:])
	}
	b := whole.Sum128().Bytes()
	return prefix + hex.EncodeToString(b[:]), size, nil
}

// hashSegments fills in the sums from the first on, on all CPUs.
func hashSegments(f *os.File, size int64, sums []xxh3.Uint128, first int) error {
	count := len(sums) - first
	workers := min(runtime.NumCPU(), 4, max(count, 1))
	next := make(chan int, count)
	for i := range count {
		next <- first + i
	}
	close(next)
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				if sums[i], errs[w] = hashSegment(f, int64(i)*SegmentBytes, size); errs[w] != nil {
					return
				}
			}
		}()
	}
	group.Wait()
	return errors.Join(errs...)
}

// hashSegment reads by a mapping: that needs two thirds of the CPU time of reads, and they would hold up who writes the file meanwhile.
func hashSegment(f *os.File, offset, size int64) (sum xxh3.Uint128, err error) {
	length := min(SegmentBytes, size-offset)
	_ = unix.Fadvise(int(f.Fd()), offset, length, unix.FADV_WILLNEED)
	mapped, err := unix.Mmap(int(f.Fd()), offset, int(length), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return sum, err
	}
	defer func() { _ = unix.Munmap(mapped) }()
	// What the disk can't give, or what is cut off meanwhile, faults when it is looked at.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("byte %d: %w", offset+int64(cause.Addr()-uintptr(unsafe.Pointer(&mapped[0]))), unix.EIO)
		default:
			panic(cause)
		}
	}()
	return xxh3.Hash128(mapped), nil
}
