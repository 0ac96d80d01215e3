package host

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// inOwnMounts runs what mounts in a mount namespace of its own. It is a thread's, which is never used again: whatever is left in it goes with that.
func inOwnMounts(t *testing.T, run func() error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts")
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			err = run()
		}
		result <- err
	}()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
}
