package shim

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	writeBehindEvery = 10 * time.Millisecond
	// Less than this is written in a moment when it is sealed; more of it should be on its way while the engine still works.
	writeBehindMinimum = 16 << 20
)

// beside gives back room as the engine fills the checkpoint, all of it at the end. writeOut: the kernel writes what is there while more comes, so
// that the sync at the seal finds less left: for 512 MiB it alone would take as long as all the rest of a pause. A runtime that goes on before the seal
// would only wait for it. The function that it gives tells the end of the capture, and waits for nothing.
func beside(location string, room *claim, writeOut bool) (over func()) {
	done := make(chan struct{})
	go func() {
		defer room.give()
		ticks := time.NewTicker(writeBehindEvery)
		defer ticks.Stop()
		var pages *os.File
		defer func() {
			if pages != nil {
				_ = pages.Close()
			}
		}()
		for {
			if pages == nil {
				pages, _ = os.Open(filepath.Join(location, "pages.img"))
			}
			room.shrink(pages)
			if writeOut {
				startWriting(pages)
			}
			select {
			case <-done:
				if writeOut {
					startWriting(pages)
				}
				return
			case <-ticks.C:
			}
		}
	}()
	return func() { close(done) }
}

// startWriting starts the write-out of all dirty pages of the file. It waits while the disk's queue is full.
func startWriting(file *os.File) {
	if file == nil {
		return
	}
	if info, err := file.Stat(); err != nil || info.Size() < writeBehindMinimum {
		return
	}
	_ = unix.SyncFileRange(int(file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
