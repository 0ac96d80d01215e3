package shim

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// warmTime: a disk that needs longer for it has other things to do.
	warmTime = 2 * time.Second
	warmStep = 1 << 20
	warmNice = 19
)

// warm has the host read the pages of the last pause that it does not have in memory: what it shares with the pages of the one before was there as
// theirs. So a resume soon after is as quick as if all had been written. This is the last that the shim does, and nobody waits for it.
func (r *Runtime) warm() {
	pages := r.takeShared()
	if pages == nil {
		return
	}
	defer pages.Close()
	runtime.LockOSThread() // its priority is the thread's
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, warmNice)
	r.dropBase()
	step := make([]byte, warmStep)
	deadline := time.Now().Add(warmTime)
	for at := int64(0); isKept(pages) && time.Now().Before(deadline); at += warmStep {
		if n, err := pages.ReadAt(step, at); err != nil || n == 0 {
			return
		}
	}
}

// isKept says whether the file is still somebody's: not of a checkpoint that was removed.
func isKept(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Sys().(*syscall.Stat_t).Nlink > 0
}
