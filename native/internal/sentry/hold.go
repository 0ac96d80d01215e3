package sentry

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// HoldNew keeps the engine's commands from making the container until it is released: it holds the lock that they wait for
// (runsc/container/state_file.go), after a start of 10 ms that needs nothing of the container's.
func (c Control) HoldNew() (release func(), err error) {
	stateDir := filepath.Dir(c.socket)
	if err := os.MkdirAll(stateDir, 0o711); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(stateDir, c.container+"_sandbox:"+c.container+".lock"), os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		lock.Close()
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}
