package sentry

import (
	"errors"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/ownprocess"
)

// The filter stays for good.
func TestNobodyTrapsCPUID(t *testing.T) {
	ownprocess.Run(t, func() { leaveCPUID(t) })
}

func leaveCPUID(t *testing.T) {
	if err := LeaveCPUID(); errors.Is(err, unix.EACCES) {
		t.Skip("only root may filter without giving up new privileges")
	} else if err != nil {
		t.Fatal(err)
	}
	const archGetCPUID = 0x1011
	if _, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, archSetCPUID, 0, 0); errno != unix.ENODEV {
		t.Errorf("it can be trapped: %v", errno)
	}
	if enabled, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, archGetCPUID, 0, 0); errno != 0 || enabled != 1 {
		t.Errorf("it is trapped, or cannot be asked for: %d, %v", enabled, errno)
	}
	if err := exec.Command("/bin/true").Run(); err != nil {
		t.Errorf("a program does not start: %v", err)
	}
}
