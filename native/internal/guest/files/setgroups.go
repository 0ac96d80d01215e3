package files

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func setgroups(groups []uint32, first *uint32) error {
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(first)), 0); e != 0 {
		return e
	}
	return nil
}
