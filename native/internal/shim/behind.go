package shim

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/sentry"
)

const (
	writeBehindEvery = 4 * time.Millisecond
	// The disk is what a pause of much memory waits for: it should have something to do from the first moment.
	writeBehindMinimum = 1 << 20
	// The engine, and the write-out for which the disk waits, come first: there is time to hash while they wait for the disk.
	hashNice = 10
)

// behind is what is done to a checkpoint's pages while the engine writes them.
type behind struct {
	location string
	room     *claim
	// settled tells from the file's size how much of it is not written again.
	settled func(size int64) int64

	over   chan struct{}
	hashed chan struct{}
	hasher atomic.Int32 // the thread that hashes
	nice   int          // it had before
	ahead  checksum.Ahead
}

// start gives back room as the engine fills the checkpoint, all of it at the end. forSeal: nothing goes on before the seal. So the kernel writes what
// is there while more comes, and it is hashed: for 512 MiB each of them alone would take a third as long as all the rest of a pause. A runtime that
// goes on before the seal would only wait for it.
func (b *behind) start(forSeal bool) {
	b.over, b.hashed = make(chan struct{}), make(chan struct{})
	go func() {
		defer b.room.give()
		b.eachTick(func(pages *os.File, size int64) bool {
			b.room.shrink(size)
			if forSeal {
				startWriting(pages, size)
			}
			return true
		})
	}()
	if !forSeal {
		close(b.hashed)
		return
	}
	go func() {
		defer close(b.hashed)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and its priority with it
		tid := unix.Gettid()
		b.nice = niceOf(tid)
		_ = unix.Setpriority(unix.PRIO_PROCESS, tid, b.nice+hashNice)
		b.hasher.Store(int32(tid))
		b.eachTick(b.hash)
		<-b.over // so long its number is nobody else's
	}()
}

// niceOf is a thread's nice value; the kernel gives 20 less it (getpriority(2)).
func niceOf(tid int) int {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	if err != nil {
		return 0
	}
	return 20 - priority
}

// end tells that all is written, and gives what is hashed of the pages by now.
func (b *behind) end() *checksum.Ahead {
	if tid := b.hasher.Load(); tid != 0 {
		_ = unix.Setpriority(unix.PRIO_PROCESS, int(tid), b.nice) // from here on it is waited for
	}
	close(b.over)
	<-b.hashed
	return &b.ahead
}

// eachTick works on the pages, as many as there are by now, and a last time when all are written; or until the work says that it is over.
func (b *behind) eachTick(work func(pages *os.File, size int64) bool) {
	ticks := time.NewTicker(writeBehindEvery)
	defer ticks.Stop()
	var pages *os.File
	defer func() { _ = pages.Close() }()
	for isOver := false; ; {
		if pages == nil {
			pages, _ = os.Open(filepath.Join(b.location, sentry.PagesFile))
		}
		if pages != nil {
			if info, err := pages.Stat(); err != nil || !work(pages, info.Size()) {
				return
			}
		}
		if isOver {
			return
		}
		select {
		case <-b.over:
			isOver = true
		case <-ticks.C:
		}
	}
}

// hash does what is settled, segment by segment, and leaves the rest when all is written: more hands can do that then.
func (b *behind) hash(pages *os.File, size int64) bool {
	for {
		select {
		case <-b.over:
			return false
		default:
		}
		// What can't be read now can't be afterwards, and fails there.
		if more, err := b.ahead.Next(pages, b.settled(size)); err != nil || !more {
			return err == nil
		}
	}
}

// startWriting starts the write-out of all dirty pages of the file. It waits while the disk's queue is full.
func startWriting(file *os.File, size int64) {
	if size >= writeBehindMinimum {
		_ = unix.SyncFileRange(int(file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	}
}
