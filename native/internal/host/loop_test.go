package host

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestALoopDeviceIsUsedInAContainerWhoseDevLacksIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	inOwnMounts(t, func() error { return attachWithoutNodes(file) })
}

func attachWithoutNodes(file string) error {
	control := uint32(10<<8 | 237)
	for _, step := range []func() error{
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
