package process

import (
	"golang.org/x/sys/unix"
)

// What a root process of a session may have: Docker's default set. PID 1 has more, to mount and to set the hostname.
var sessionCapabilities = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_MKNOD, unix.CAP_NET_RAW,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_SETFCAP, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE,
	unix.CAP_SYS_CHROOT, unix.CAP_KILL, unix.CAP_AUDIT_WRITE,
}

// limitCapabilities bounds what children of the calling thread can ever have. The thread itself keeps its permitted set:
// it still has to change users. Errors mean that there was nothing to give away, as in tests without root.
func limitCapabilities() {
	keep := uint64(0)
	for _, c := range sessionCapabilities {
		keep |= 1 << c
	}
	for c := 0; c < 64; c++ {
		if keep&(1<<c) == 0 && unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0) == unix.EINVAL {
			break // past the kernel's last capability
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	_ = unix.Capset(&header, &data[0])
}
