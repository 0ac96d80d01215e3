// Package pages writes the memory of a frozen sandbox into a checkpoint. What is as in the checkpoint that the sandbox was restored from is not
// written: the new file shares the blocks of the old one.
package pages

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
)

const (
	// Read, compared and hashed while they are in the CPU's own cache.
	chunkBytes = 128 << 10
	// Less is written anew: that is as quick as to share it, and the file is not one of many pieces after many pauses.
	sharedMinimum = 128 << 10
	// So much the disk is given at a time.
	writeOutBytes = 1 << 20
)

// Memory is what the pages file is to have.
type Memory struct {
	File   *os.File
	Layout Layout
	// Kept is a page as it was when the layout was made: the engine has changed it since.
	Kept Page
}

// Page is one page of the memory.
type Page struct {
	At    int64
	Bytes []byte
}

// Written is a finished pages file.
type Written struct {
	// Hash has all of it.
	Hash checksum.Ahead
	// SharedBytes are the base's.
	SharedBytes int64
}

// stretch of the new file that is as in the base.
type stretch struct{ at, from, length int64 }

func (s stretch) end() int64 { return s.at + s.length }

// Write fills the file, which has to be empty. grown is told of the bytes that are done, by one after the other.
func Write(into *os.File, memory Memory, base *Base, grown func(bytes int64)) (Written, error) {
	size := memory.Layout.Size()
	if err := into.Truncate(size); err != nil {
		return Written{}, err
	}
	sums := make([]xxh3.Uint128, checksum.Segments(size))
	workers := make([]*worker, min(runtime.NumCPU(), 4, len(sums)))
	errs := make([]error, len(workers))
	var next, done atomic.Int64
	var failed atomic.Bool
	var telling sync.Mutex
	var group sync.WaitGroup
	for i := range workers {
		w := &worker{memory: memory, base: base, into: into}
		w.ours, w.theirs, w.spare = make([]byte, chunkBytes), make([]byte, chunkBytes), make([]byte, chunkBytes)
		workers[i] = w
		group.Go(func() {
			for !failed.Load() {
				n := next.Add(1) - 1
				if n >= int64(len(sums)) {
					return
				}
				start, end := n*checksum.SegmentBytes, min((n+1)*checksum.SegmentBytes, size)
				if sums[n], errs[i] = w.segment(start, end); errs[i] != nil {
					failed.Store(true)
					return
				}
				telling.Lock()
				grown(done.Add(end - start))
				telling.Unlock()
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return Written{}, err
	}
	var same []stretch
	for _, w := range workers {
		same = append(same, w.same...)
	}
	shared, err := shareAll(into, base, same)
	return Written{checksum.Hashed(sums, size), shared}, err
}

// shareAll comes last: to share blocks the kernel locks both files, and who compares would find the base taken.
func shareAll(into *os.File, base *Base, same []stretch) (shared int64, err error) {
	buffer := make([]byte, chunkBytes)
	slices.SortFunc(same, func(a, b stretch) int { return cmp.Compare(a.at, b.at) })
	for len(same) > 0 {
		whole := same[0]
		for same = same[1:]; len(same) > 0 && same[0].at == whole.end() && same[0].from == whole.from+whole.length; same = same[1:] {
			whole.length += same[0].length
		}
		if whole.length >= sharedMinimum && base.share(into, whole) == nil {
			shared += whole.length
		} else if err := base.copyTo(into, whole, buffer); err != nil {
			return 0, err
		}
	}
	return shared, nil
}

func (b *Base) copyTo(into *os.File, same stretch, buffer []byte) error {
	for done := int64(0); done < same.length; {
		part := buffer[:min(same.length-done, int64(len(buffer)))]
		if _, err := b.file.ReadAt(part, same.from+done); err != nil {
			return err
		}
		if _, err := into.WriteAt(part, same.at+done); err != nil {
			return err
		}
		done += int64(len(part))
	}
	return nil
}

// worker does one segment of the file after the other.
type worker struct {
	memory       Memory
	base         *Base
	into         *os.File
	ours, theirs []byte // a chunk of each
	spare        []byte
	// same was found and is not shared yet.
	same []stretch
	// fresh is written, and the disk was not told of it.
	fresh Range
	// start of the segment.
	start int64
}

func (w *worker) segment(start, end int64) (xxh3.Uint128, error) {
	hash := xxh3.New()
	w.start = start
	at := int64(0) // in the file, of the range
	for _, r := range w.memory.Layout {
		if at >= end {
			break
		}
		for from, to := max(start-at, 0), min(end-at, r.length()); from < to; from += chunkBytes {
			chunk := w.ours[:min(to-from, chunkBytes)]
			if err := w.read(chunk, r.Start+from); err != nil {
				return xxh3.Uint128{}, err
			}
			// What is hashed is what is written, also if the memory changes.
			_, _ = hash.Write(chunk)
			if err := w.put(chunk, r.Start+from, at+from); err != nil {
				return xxh3.Uint128{}, err
			}
		}
		at += r.length()
	}
	w.writeOut()
	return hash.Sum128(), nil
}

func (w *worker) read(chunk []byte, memoryAt int64) error {
	if _, err := w.memory.File.ReadAt(chunk, memoryAt); err != nil {
		return err
	}
	if kept := w.memory.Kept; kept.At >= memoryAt && kept.At < memoryAt+int64(len(chunk)) {
		copy(chunk[kept.At-memoryAt:], kept.Bytes)
	}
	return nil
}

func (w *worker) put(chunk []byte, memoryAt, at int64) error {
	for len(chunk) > 0 {
		from, n := w.base.find(memoryAt, memoryAt+int64(len(chunk)))
		part := chunk[:n]
		var err error
		if from >= 0 && w.base.cached(w.theirs[:n], from) {
			err = w.putDifference(part, w.theirs[:n], at, from)
		} else {
			err = w.write(part, at)
		}
		if err != nil {
			return err
		}
		chunk, memoryAt, at = chunk[n:], memoryAt+n, at+n
	}
	return nil
}

func (w *worker) putDifference(ours, theirs []byte, at, from int64) error {
	if bytes.Equal(ours, theirs) {
		return w.isSame(stretch{at, from, int64(len(ours))})
	}
	isEqual := func(page int) bool { return bytes.Equal(ours[page:page+pageBytes], theirs[page:page+pageBytes]) }
	for start := 0; start < len(ours); {
		equal, end := isEqual(start), start+pageBytes
		for end < len(ours) && isEqual(end) == equal {
			end += pageBytes
		}
		var err error
		if equal {
			err = w.isSame(stretch{at + int64(start), from + int64(start), int64(end - start)})
		} else {
			err = w.write(ours[start:end], at+int64(start))
		}
		if err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (w *worker) isSame(next stretch) error {
	if n := len(w.same); n > 0 && w.same[n-1].end() == next.at && w.same[n-1].from+w.same[n-1].length == next.from {
		w.same[n-1].length += next.length
		return nil
	}
	if err := w.writeShort(); err != nil {
		return err
	}
	w.same = append(w.same, next)
	return nil
}

// writeShort writes the stretch that was found last, if it has ended and is too short to be shared. One at the segment's start may go on before it.
func (w *worker) writeShort() error {
	n := len(w.same)
	if n == 0 || w.same[n-1].length >= sharedMinimum || w.same[n-1].at <= w.start {
		return nil
	}
	short := w.same[n-1]
	w.same = w.same[:n-1]
	w.isFresh(Range{short.at, short.end()})
	return w.base.copyTo(w.into, short, w.spare)
}

func (w *worker) write(content []byte, at int64) error {
	if err := w.writeShort(); err != nil {
		return err
	}
	if _, err := w.into.WriteAt(content, at); err != nil {
		return err
	}
	w.isFresh(Range{at, at + int64(len(content))})
	return nil
}

// isFresh has the disk begin with what was written, in pieces that are worth it.
func (w *worker) isFresh(r Range) {
	if w.fresh.End == r.Start {
		w.fresh.End = r.End
	} else {
		w.writeOut()
		w.fresh = r
	}
	if w.fresh.length() >= writeOutBytes {
		w.writeOut()
	}
}

func (w *worker) writeOut() {
	if w.fresh.length() > 0 {
		_ = unix.SyncFileRange(int(w.into.Fd()), w.fresh.Start, w.fresh.length(), unix.SYNC_FILE_RANGE_WRITE)
	}
	w.fresh.Start = w.fresh.End
}
