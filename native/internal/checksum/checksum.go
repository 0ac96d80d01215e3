// Package checksum hashes checkpoint parts. The engine restores a checkpoint with flipped bytes without a word, so
// every byte is hashed when it is written and again before it is restored.
//
// The hash of a part is XXH3-128 over the XXH3-128 values of its 16 MiB segments, so that all CPUs can work on one file:
// reading, not hashing, is the limit (one thread: 8 to 12 GB/s).
package checksum

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"
)

const (
	segment = 16 << 20
	buffer  = 256 << 10
	prefix  = "xxh3-16m:"
)

// File hashes the file at path; it returns its size too.
func File(path string) (string, int64, error) {
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
	_ = unix.Fadvise(int(f.Fd()), 0, size, unix.FADV_SEQUENTIAL)
	count := int((size + segment - 1) / segment)
	sums := make([]xxh3.Uint128, count)
	workers := min(runtime.NumCPU(), 4, max(count, 1))
	next := make(chan int, count)
	for i := range count {
		next <- i
	}
	close(next)
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			buf := make([]byte, min(buffer, max(int(size), 1)))
			for i := range next {
				if sums[i], errs[w] = hashSegment(f, int64(i)*segment, size, buf); errs[w] != nil {
					return
				}
			}
		}()
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return "", 0, fmt.Errorf("read %s: %w", path, err)
		}
	}
	whole := xxh3.New()
	for _, sum := range sums {
		b := sum.Bytes()
		_, _ = whole.Write(b[:])
	}
	b := whole.Sum128().Bytes()
	return prefix + hex.EncodeToString(b[:]), size, nil
}

func hashSegment(f *os.File, offset, size int64, buf []byte) (xxh3.Uint128, error) {
	h := xxh3.New()
	end := min(offset+segment, size)
	for offset < end {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), end-offset)], offset)
		if n == 0 && err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return xxh3.Uint128{}, err
		}
		_, _ = h.Write(buf[:n])
		offset += int64(n)
	}
	return h.Sum128(), nil
}
