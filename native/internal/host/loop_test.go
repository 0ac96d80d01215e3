package host

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestALoopDeviceIsUsedInAContainerWhoseDevLacksIt(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has loop devices")
	}
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	// The thread's mounts are its own, and it is never used again.
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- attachWithoutNodes(file)
	}()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
}

func attachWithoutNodes(file string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return err
	}
	control := uint32(10<<8 | 237)
	for _, step := range []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("tmpfs", "/dev", "tmpfs", 0, "") },
		func() error { return unix.Mknod("/dev/loop-control", unix.S_IFCHR|0o600, int(control)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	loop, err := attachLoop(file)
	if err != nil {
		return err
	}
	// It frees itself with its last user.
	return loop.Close()
}
