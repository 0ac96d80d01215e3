package shim

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// memoryOf has this process hold a memory file as a sentry does.
func memoryOf(t *testing.T, name string, bytes int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), name)
	t.Cleanup(func() { _ = file.Close() })
	if _, err := file.Write(make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMemoryOfAnEndingSandboxIsFreed(t *testing.T) {
	for _, each := range []struct {
		name        string
		bytes, left int64
	}{
		{"runsc-memory", freeingMinimum, 0},
		{"runsc-memory", freeingMinimum - 4096, freeingMinimum - 4096},
		{"something-else", freeingMinimum, freeingMinimum},
	} {
		file := memoryOf(t, each.name, int(each.bytes))
		freeMemory([]int{-1, os.Getpid()})()
		info, err := file.Stat()
		if err != nil || heldBytes(info) != each.left || info.Size() != each.bytes {
			t.Errorf("%s of %d bytes: %d are held of %d, error %v", each.name, each.bytes, heldBytes(info), info.Size(), err)
		}
		_ = file.Close()
	}
}
