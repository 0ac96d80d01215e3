package sentry

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arch_prctl(2), option ARCH_SET_CPUID (asm/prctl.h).
const archSetCPUID = 0x1012

// LeaveCPUID has the CPUID instruction answered by the processor for all that this process starts from now on. The engine asks the
// kernel to trap it (systrap, enableCpuidFault), and answers by itself what the processor would: 50 µs each where one of
// the processor's takes 9, and a C library asks 80 times before it comes to main. An engine whose kernel or processor can't trap goes on
// without, by its source; so the kernel's answer here is that it can't.
func LeaveCPUID() error {
	const (
		number       = 0 // struct seccomp_data: nr
		architecture = 4
		argument     = 16 // the low half of args[0]
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	unless := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	filter := []unix.SockFilter{
		load(architecture), unless(unix.AUDIT_ARCH_X86_64, 5),
		load(number), unless(unix.SYS_ARCH_PRCTL, 3),
		load(argument), unless(archSetCPUID, 1),
		end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENODEV)),
		end(unix.SECCOMP_RET_ALLOW),
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("leave CPUID to the processor: %w", errno)
	}
	return nil
}
