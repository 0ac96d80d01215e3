package guest

import (
	"errors"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// handoverTime bounds the wait for a connector's message: it is one of ours, and sends it at once.
const handoverTime = 5 * time.Second

// hostListener accepts the connections of the host: the first line, and those that connectors hand over.
type hostListener struct {
	connectors net.Listener
	fresh      chan net.Conn
	ended      chan struct{}
	end        sync.Once
	current    net.Conn
}

// newHostListener serves the connectors, and the first line if there is one.
func newHostListener(connectors net.Listener, first *firstLine) *hostListener {
	l := &hostListener{connectors: connectors, fresh: make(chan net.Conn), ended: make(chan struct{})}
	if first != nil {
		go func() {
			if err := first.run(l.give); err != nil {
				log.Printf("the line of the launch: %v", err)
			}
		}()
	}
	go l.acceptConnectors()
	return l
}

// Accept ends the connection before: one daemon talks at a time, and after a restore the one before is dead without a word.
func (l *hostListener) Accept() (net.Conn, error) {
	select {
	case next := <-l.fresh:
		if l.current != nil {
			l.current.Close()
		}
		l.current = next
		return next, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *hostListener) Addr() net.Addr { return l.connectors.Addr() }

func (l *hostListener) Close() error {
	l.end.Do(func() { close(l.ended) })
	return l.connectors.Close()
}

func (l *hostListener) give(conn net.Conn) {
	select {
	case l.fresh <- conn:
	case <-l.ended:
		conn.Close()
	}
}

func (l *hostListener) acceptConnectors() {
	for {
		conn, err := l.connectors.Accept()
		if err != nil {
			l.end.Do(func() { close(l.ended) })
			return
		}
		next, err := takePipes(conn.(*net.UnixConn))
		conn.Close()
		if err == nil {
			l.give(next)
		}
	}
}

// takePipes receives the two descriptors and says that it has them.
func takePipes(conn *net.UnixConn) (*pipeConn, error) {
	if err := conn.SetDeadline(time.Now().Add(handoverTime)); err != nil {
		return nil, err
	}
	rights := make([]byte, unix.CmsgSpace(2*4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("a connector sent no descriptors")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 2 {
		return nil, errors.New("a connector sent other than two descriptors")
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		_ = unix.SetNonblock(fd, true)
	}
	pipes := &pipeConn{in: os.NewFile(uintptr(fds[0]), "from the host"), out: os.NewFile(uintptr(fds[1]), "to the host")}
	if _, err := conn.Write([]byte{0}); err != nil {
		pipes.Close()
		return nil, err
	}
	return pipes, nil
}

// pipeConn is a connection by two pipes.
type pipeConn struct{ in, out *os.File }

func (c *pipeConn) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *pipeConn) Write(b []byte) (int, error) { return c.out.Write(b) }
func (c *pipeConn) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }
func (c *pipeConn) LocalAddr() net.Addr         { return hostAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr        { return hostAddr{} }

func (c *pipeConn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetReadDeadline(t), c.out.SetWriteDeadline(t))
}
func (c *pipeConn) SetReadDeadline(t time.Time) error  { return c.in.SetReadDeadline(t) }
func (c *pipeConn) SetWriteDeadline(t time.Time) error { return c.out.SetWriteDeadline(t) }

type hostAddr struct{}

func (hostAddr) Network() string { return "pipe" }
func (hostAddr) String() string  { return "host" }
