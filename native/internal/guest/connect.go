package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	connectPatience = 5 * time.Second
	connectRetry    = 5 * time.Millisecond
	spliceBytes     = 128 << 10
)

// Connect splices its input and output with PID 1's socket until either side ends. It is how the host reaches the guest:
// a process started from outside whose stdio are the host's pipes.
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
	ended := make(chan error, 2)
	go func() {
		if err := splice(fd, in); err != nil {
			ended <- err
			return
		}
		// The host's side has ended: what the guest still has to say may come, then the guest closes.
		if unix.Shutdown(fd, unix.SHUT_WR) != nil {
			ended <- nil
		}
	}()
	go func() { ended <- splice(out, fd) }()
	return <-ended
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

// splice copies with plain blocking calls: a thread for each way is faster than the poller, which would add a wake-up to
// every message.
func splice(to, from int) error {
	buffer := make([]byte, spliceBytes)
	for {
		n, err := unix.Read(from, buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			if err := waitFor(from, unix.POLLIN); err != nil {
				return err
			}
			continue
		case err == unix.ECONNRESET, err == nil && n == 0:
			return nil
		case err != nil:
			return os.NewSyscallError("read", err)
		}
		if err := writeAll(to, buffer[:n]); err != nil {
			return err
		}
	}
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := waitFor(fd, unix.POLLOUT); err != nil {
				return err
			}
		case err != nil:
			return os.NewSyscallError("write", err)
		case n == 0:
			return io.ErrShortWrite
		default:
			data = data[n:]
		}
	}
	return nil
}

func waitFor(fd int, events int16) error {
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1)
	if err == unix.EINTR {
		return nil
	}
	return err
}
