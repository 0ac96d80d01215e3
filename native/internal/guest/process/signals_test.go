package process

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/ownprocess"
)

// The handlers are changed for good.
func TestSwallowedSignalsEndNobodyAndAreNoChilds(t *testing.T) {
	ownprocess.Run(t, func() { swallowAll(t) })
}

func swallowAll(t *testing.T) {
	if err := SwallowSignals(); err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command("cat", "/proc/self/status")
	childs, err := program.Output()
	if err != nil {
		t.Fatal(err)
	}
	for n := syscall.Signal(1); n <= lastSignal; n++ {
		if !isSwallowed(n) {
			continue
		}
		if !signals(t, status, "SigCgt")[n] || signals(t, status, "SigIgn")[n] {
			t.Errorf("signal %d is not caught", n)
		}
		if signals(t, childs, "SigCgt")[n] || signals(t, childs, "SigIgn")[n] {
			t.Errorf("a child has signal %d otherwise than by default", n)
		}
		for _, send := range []func() error{func() error { return syscall.Kill(os.Getpid(), n) }, func() error { return queue(os.Getpid(), n) }} {
			if err := send(); err != nil {
				t.Errorf("signal %d: %v", n, err)
			}
		}
	}
	// A child can be ended by each as ever, the moment it runs.
	for _, n := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGHUP, syscall.SIGPIPE, firstRealTime, lastSignal} {
		sleeper := exec.Command("sleep", "60")
		if err := sleeper.Start(); err != nil {
			t.Fatal(err)
		}
		if err := sleeper.Process.Signal(n); err != nil {
			t.Error(err)
		}
		ended := time.AfterFunc(10*time.Second, func() { _ = sleeper.Process.Kill() })
		_ = sleeper.Wait()
		ended.Stop()
		if got := sleeper.ProcessState.Sys().(syscall.WaitStatus); !got.Signaled() || got.Signal() != n {
			t.Errorf("signal %d did not end a child: %v", n, sleeper.ProcessState)
		}
	}
}

func signals(t *testing.T, status []byte, field string) map[syscall.Signal]bool {
	t.Helper()
	found := regexp.MustCompile(field + `:\t([0-9a-f]+)`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no %s in %s", field, bytes.TrimSpace(status))
	}
	mask, err := strconv.ParseUint(string(found[1]), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	set := map[syscall.Signal]bool{}
	for n := range 64 {
		set[syscall.Signal(n+1)] = mask>>n&1 == 1
	}
	return set
}

// queue sends a signal as sigqueue(3) does.
func queue(pid int, n syscall.Signal) error {
	const siQueue = -1
	info := struct {
		signo, errno, code, _ int32
		pid, uid              int32
		_                     [26]int32
	}{signo: int32(n), code: siQueue, pid: int32(pid), uid: int32(os.Getuid())}
	if _, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(n), uintptr(unsafe.Pointer(&info))); errno != 0 {
		return errno
	}
	return nil
}
