package pages

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// samples of the memory tell well enough how much of it is as it was.
const samples = 128

// Base is the pages file that a sandbox was restored from. Open, it can be read when its checkpoint is removed; its room is given back when it is closed.
type Base struct {
	file    *os.File
	layout  Layout
	offsets []int64 // in the file, of each range of the layout
	// share has the file use the base's blocks; tests have their own.
	share func(into *os.File, same stretch) error
}

// OpenBase opens a pages file of that layout. On a file system whose files can't share blocks it fails.
func OpenBase(path string, layout Layout) (*Base, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	base := newBase(file, layout)
	if err := base.check(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return base, nil
}

func newBase(file *os.File, layout Layout) *Base {
	base := &Base{file: file, layout: layout, offsets: make([]int64, len(layout))}
	base.share = base.cloneInto
	at := int64(0)
	for i, r := range layout {
		base.offsets[i] = at
		at += r.length()
	}
	return base
}

func (b *Base) check() error {
	size := b.layout.Size()
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("it has %d bytes, and its layout %d", info.Size(), size)
	}
	sample, err := os.OpenFile(filepath.Dir(b.file.Name()), os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return err
	}
	defer sample.Close()
	return b.share(sample, stretch{length: min(size, pageBytes)})
}

// Close gives its room back, if nobody else has it.
func (b *Base) Close() error { return b.file.Close() }

// find tells where the base has the memory from start on: the offset in its file, and for how much, at most to end. What it has not has the offset -1.
func (b *Base) find(start, end int64) (offset, length int64) {
	i := b.layout.search(start)
	if i == len(b.layout) || b.layout[i].Start >= end {
		return -1, end - start
	}
	r := b.layout[i]
	if r.Start > start {
		return -1, r.Start - start
	}
	return b.offsets[i] + start - r.Start, min(end, r.End) - start
}

// cached reads what the host has of it in memory, all or nothing: to read it from the disk takes as long as to write it there.
func (b *Base) cached(buffer []byte, offset int64) bool {
	n, err := unix.Preadv2(int(b.file.Fd()), [][]byte{buffer}, offset, unix.RWF_NOWAIT)
	return err == nil && n == len(buffer)
}

func (b *Base) cloneInto(into *os.File, same stretch) error {
	return unix.IoctlFileCloneRange(int(into.Fd()), &unix.FileCloneRange{
		Src_fd: int64(b.file.Fd()), Src_offset: uint64(same.from), Src_length: uint64(same.length), Dest_offset: uint64(same.at),
	})
}

// Resembles says whether so much of the memory is as in the base that it pays to compare all of it: half.
func (b *Base) Resembles(memory *os.File) bool {
	ours, theirs := make([]byte, pageBytes), make([]byte, pageBytes)
	step := max(b.layout.Size()/samples/pageBytes, 1) * pageBytes
	seen, equal, next := 0, 0, int64(0)
	for i, r := range b.layout {
		for ; next < b.offsets[i]+r.length(); next += step {
			seen++
			_, err := memory.ReadAt(ours, r.Start+next-b.offsets[i])
			if err == nil && b.cached(theirs, next) && bytes.Equal(ours, theirs) {
				equal++
			}
		}
	}
	return seen > 0 && equal*2 >= seen
}
