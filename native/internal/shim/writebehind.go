package shim

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	writeBehindEvery = 10 * time.Millisecond
	// Less than this is written in a moment when it is sealed; more of it should be on its way while the engine still works.
	writeBehindMinimum = 16 << 20
)

// writeBehind has the kernel write what the engine puts into the checkpoint while it does so, so that the sync at the seal finds little left:
// for 512 MiB of memory the sync alone would take as long as all the rest of a pause. The function that it gives ends it.
func writeBehind(location string, room *claim) func() {
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
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
			startWriting(pages)
			select {
			case <-done:
				startWriting(pages)
				return
			case <-ticks.C:
			}
		}
	}()
	return func() {
		close(done)
		group.Wait()
	}
}

// startWriting starts the write-out of all dirty pages of the file and does not wait for it.
func startWriting(file *os.File) {
	if file == nil {
		return
	}
	if info, err := file.Stat(); err != nil || info.Size() < writeBehindMinimum {
		return
	}
	_ = unix.SyncFileRange(int(file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
