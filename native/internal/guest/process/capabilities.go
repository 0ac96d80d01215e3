package process

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a root process of a session may have: Docker's default set. PID 1 has more, to mount and to set the hostname.
var sessionCapabilities = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_MKNOD, unix.CAP_NET_RAW,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_SETFCAP, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE,
	unix.CAP_SYS_CHROOT, unix.CAP_KILL, unix.CAP_AUDIT_WRITE,
}

// limitCapabilities bounds what a program executed by any thread of this process can ever have. PID 1 itself keeps what it
// has: the bound acts at exec alone. Errors mean that there is nothing to give away, as in tests, which are no root's or
// are linked with C.
func limitCapabilities() {
	keep := uint64(0)
	for _, c := range sessionCapabilities {
		keep |= 1 << c
	}
	for c := uintptr(0); c < 64; c++ {
		if keep&(1<<c) != 0 {
			continue
		}
		// Each drop stops all threads for a millisecond: most engines have left these out already, and then none is needed.
		if held, _, e := syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_READ, c, 0); e != 0 {
			break
		} else if held == 0 {
			continue
		}
		if _, _, e := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0); e != 0 {
			break // past the kernel's last capability, or nothing to give away
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return
	}
	if data[0].Inheritable == 0 && data[1].Inheritable == 0 {
		return // and then there are no ambient ones either
	}
	_, _, _ = syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0)
	data[0].Inheritable, data[1].Inheritable = 0, 0
	_, _, _ = syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0)
}
