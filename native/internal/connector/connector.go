// Package connector hands the host's pipes over to PID 1. It is a program of its own, which knows nothing of the protocol: it starts
// at each boot, resume and fork, and half of the time until the guest answers is its start.
package connector

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// SocketPath is where PID 1 listens. The directory is a tmpfs of the sandbox's own.
const SocketPath = "/.torpor/run/guest.sock"

const (
	connectPatience = 5 * time.Second
	connectRetry    = 5 * time.Millisecond
)

// Connect hands its input and output, the host's pipes, over to PID 1 and ends: it is how the host reaches the guest. PID 1 then
// speaks to the host by itself. A process that stayed and copied between pipes and socket would cost each message two more
// switches (half a millisecond of a round trip) and each checkpoint of a fork 1.4 MB of pages and 17 ms of looking through its memory.
//
// In the restored copy of a sandbox the pipes are dead descriptors: only their own sandbox has their other ends.
func Connect(path string, wanted func(pid int) bool, in, out int) error {
	fd, err := dial(path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// Root in the sandbox can put another socket in the place of PID 1's.
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if !wanted(int(cred.Pid)) {
		return fmt.Errorf("%s belongs to process %d, not to PID 1", path, cred.Pid)
	}
	if err := unix.Sendmsg(fd, []byte{0}, unix.UnixRights(in, out), nil, 0); err != nil {
		return fmt.Errorf("hand over the pipes: %w", err)
	}
	// Until it has them they must stay open, and so must we.
	for {
		n, err := unix.Read(fd, make([]byte, 1))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fmt.Errorf("hand over the pipes: %w", err)
		case n == 0:
			return errors.New("PID 1 did not take the pipes")
		default:
			return nil
		}
	}
}

func dial(path string) (int, error) {
	deadline := time.Now().Add(connectPatience)
	for {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return -1, err
		}
		if err = unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err == nil {
			return fd, nil
		}
		unix.Close(fd)
		if time.Now().After(deadline) || !(errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EINTR)) {
			return -1, fmt.Errorf("connect to %s: %w", path, err)
		}
		time.Sleep(connectRetry)
	}
}
