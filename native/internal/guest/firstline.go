package guest

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/launchline"
)

// firstLine is PID 1's own input and output, if they are pipes: the host's first connection after each launch, which costs
// no process. At a restore the engine puts new pipes behind the same descriptors.
type firstLine struct {
	in     *os.File
	reader *launchline.Reader
	next   *launchline.Nonce // opened already, by the read of the connection before

	reading sync.Mutex

	writing sync.Mutex
	writer  *launchline.Writer
}

// takeStdio makes PID 1's input and output the first line, and puts nothing and the log in their place: what a program of
// the sandbox writes to /proc/1/fd/1 belongs there. It gives nil if they are no pipes.
func takeStdio() (*firstLine, error) {
	if !isPipe(0) || !isPipe(1) {
		return nil, nil
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(null)
	in, err := moved(0, null)
	if err != nil {
		return nil, err
	}
	out, err := moved(1, 2)
	if err != nil {
		return nil, err
	}
	return newFirstLine(in, out)
}

func newFirstLine(in, out *os.File) (*firstLine, error) {
	raw, err := in.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &firstLine{in: in, reader: launchline.NewReader(lasting{raw}), writer: launchline.NewWriter(out)}, nil
}

func isPipe(fd int) bool {
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFIFO
}

// moved gives the file behind fd another number, and fd another file.
func moved(fd, instead int) (*os.File, error) {
	to, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup3(instead, fd, 0); err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(to, true)
	return os.NewFile(uintptr(to), "the line of the launch"), nil
}

// lasting reads a pipe that has no end: when the shim is gone there is another one after the next restore.
type lasting struct{ raw syscall.RawConn }

func (l lasting) Read(b []byte) (n int, err error) {
	waited := l.raw.Read(func(fd uintptr) bool {
		for {
			n, err = unix.Read(int(fd), b)
			switch {
			case err == unix.EINTR:
			case err == unix.EAGAIN, err == nil && n == 0:
				return false
			default:
				return true
			}
		}
	})
	if waited != nil {
		return 0, waited
	}
	return max(n, 0), err
}

// run gives each connection of the line, the next one when the one before has ended.
func (l *firstLine) run(give func(net.Conn)) error {
	for {
		nonce, err := l.opened()
		if err != nil {
			return err
		}
		l.writing.Lock()
		err = l.writer.Answer(nonce)
		l.writing.Unlock()
		if err != nil {
			continue // its shim is gone already
		}
		conn := &firstConn{line: l, ended: make(chan struct{})}
		give(conn)
		<-conn.ended
	}
}

// opened reads over what belongs to no connection until the next one is opened.
func (l *firstLine) opened() (launchline.Nonce, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	if err := l.in.SetReadDeadline(time.Time{}); err != nil {
		return launchline.Nonce{}, err
	}
	if next := l.next; next != nil {
		l.next = nil
		return *next, nil
	}
	rest := make([]byte, 512)
	for {
		var another *launchline.Opened
		if _, err := l.reader.Read(rest); errors.As(err, &another) {
			return another.Nonce, nil
		} else if err != nil && isFinal(err) {
			return launchline.Nonce{}, err
		}
	}
}

func isFinal(err error) bool { return errors.Is(err, os.ErrClosed) || errors.Is(err, unix.EBADF) }

// firstConn is one connection of the line.
type firstConn struct {
	line  *firstLine
	once  sync.Once
	ended chan struct{}
}

func (c *firstConn) Read(b []byte) (int, error) {
	c.line.reading.Lock()
	defer c.line.reading.Unlock()
	if c.isEnded() {
		return 0, net.ErrClosed
	}
	n, err := c.line.reader.Read(b)
	if err == nil {
		return n, nil
	}
	var another *launchline.Opened
	if errors.As(err, &another) {
		c.line.next = &another.Nonce
	}
	c.end()
	return n, net.ErrClosed
}

func (c *firstConn) Write(b []byte) (int, error) {
	c.line.writing.Lock()
	defer c.line.writing.Unlock()
	if c.isEnded() {
		return 0, net.ErrClosed
	}
	return c.line.writer.Write(b)
}

// Close tells the host; beside, since a host that does not read may have left no room for a word.
func (c *firstConn) Close() error {
	if c.end() {
		go func() {
			c.line.writing.Lock()
			defer c.line.writing.Unlock()
			_ = c.line.writer.Close()
		}()
	}
	return nil
}

func (c *firstConn) isEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// end says whether it was this call that ended it. A read at work returns.
func (c *firstConn) end() (first bool) {
	c.once.Do(func() {
		_ = c.line.in.SetReadDeadline(time.Unix(1, 0))
		close(c.ended)
		first = true
	})
	return first
}

func (c *firstConn) LocalAddr() net.Addr  { return hostAddr{} }
func (c *firstConn) RemoteAddr() net.Addr { return hostAddr{} }

// The server sets no deadline but the one that takes them away.
func (c *firstConn) SetDeadline(t time.Time) error      { return noDeadline(t) }
func (c *firstConn) SetReadDeadline(t time.Time) error  { return noDeadline(t) }
func (c *firstConn) SetWriteDeadline(t time.Time) error { return noDeadline(t) }

func noDeadline(t time.Time) error {
	if t.IsZero() {
		return nil
	}
	return os.ErrNoDeadline
}
