package process

import (
	"fmt"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SwallowSignals has this process outlive those signals that root in the sandbox may send to PID 1 and that mean nothing to it, and Go know of no handler
// of theirs. Of each that it knows of it resets the signal in every child before the exec, though exec does that to what is caught: 60 system
// calls, a fifth of those of a short command. So Go is told to ignore the signal, and then it gets a handler that does nothing.
func SwallowSignals() error {
	var caught action
	if err := sigaction(syscall.SIGUSR1, nil, &caught); err != nil {
		return err
	}
	caught.handler = nothing
	for n := syscall.Signal(1); n <= lastSignal; n++ {
		if !isSwallowed(n) {
			continue
		}
		signal.Ignore(n)
		if err := sigaction(n, &caught, nil); err != nil {
			return err
		}
	}
	return nil
}

const (
	lastSignal = 64
	// The first that no C library keeps for itself.
	firstRealTime = 35
)

// isSwallowed says whether SwallowSignals takes care of a signal. Not of those that are obeyed, those of faults, and those of Go's runtime.
func isSwallowed(n syscall.Signal) bool {
	switch n {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGALRM,
		syscall.SIGVTALRM, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGWINCH,
		syscall.SIGIO, syscall.SIGPWR:
		return true
	}
	return n >= firstRealTime && n <= lastSignal
}

// nothing is where the handler is that does nothing (signals.s).
var nothing uintptr

// action is the kernel's struct sigaction. All but the handler is as Go's runtime makes it: the stack that it runs on, and how it returns.
type action struct {
	handler uintptr
	rest    [56]byte
}

func sigaction(n syscall.Signal, set, old *action) error {
	const maskBytes = 8
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), maskBytes, 0, 0)
	if errno != 0 {
		return fmt.Errorf("handler of signal %d: %w", n, errno)
	}
	return nil
}
