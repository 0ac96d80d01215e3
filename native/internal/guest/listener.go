package guest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/process"
)

// fromOutside says whether a process was started by the engine for the host: its parent is not in the sandbox. Everything
// else descends from PID 1, so root in the sandbox cannot speak for the daemon.
func fromOutside(pid int) bool { return pid > 1 && process.ParentOf(pid) == 0 }

// listen makes the socket and accepts only peers that `allowed` knows.
func listen(path string, allowed func(pid int) bool) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return &checkedListener{l, allowed}, nil
}

type checkedListener struct {
	*net.UnixListener
	allowed func(pid int) bool
}

func (l *checkedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if pid, err := peer(conn); err == nil && l.allowed(pid) {
			return conn, nil
		}
		conn.Close()
	}
}

// peer is the pid of the process that connected, as the kernel knows it.
func peer(conn syscall.Conn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return int(cred.Pid), nil
}
