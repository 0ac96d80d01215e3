package shim

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// channel is the line to the guest. The daemon connects to guest.sock, already while the runtime is launched, and its bytes
// go through pipes: the first time by those that come with the launch, later by those that torpor-connect, run by the engine's
// exec, hands over to PID 1.
//
// They have to be real pipes: a checkpoint with a socketpair among the stdio of a live exec can't be restored.
type channel struct {
	runtime *Runtime
	// Closed when the engine has started the runtime, or nobody waits for it any more.
	launched chan struct{}
	once     sync.Once

	taking sync.Mutex // held while a connection gets its line: one after the other

	first chan *firstLine // at most one, until it is used

	mu       sync.Mutex
	listener net.Listener
	current  line
	closed   bool
}

// line is one connection to PID 1.
type line interface {
	// pump copies both ways until an end of either.
	pump(conn net.Conn)
	close()
}

// connector is one exec: the ends of the pipes that are ours.
type connector struct {
	toGuest, fromGuest *os.File
	once               sync.Once
}

// pipeBytes: bulk data moves in fewer, larger steps.
const pipeBytes = 1 << 20

func newChannel(r *Runtime) *channel {
	return &channel{runtime: r, launched: make(chan struct{}), first: make(chan *firstLine, 1)}
}

// openFirst makes the line that comes with the launch, and gives what PID 1 gets as input and output.
func (c *channel) openFirst() (guestIn, guestOut *os.File, err error) {
	first, guestIn, guestOut, err := newFirstLine()
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		first.close()
		return nil, nil, errors.Join(net.ErrClosed, guestIn.Close(), guestOut.Close())
	}
	c.first <- first
	return guestIn, guestOut, nil
}

// live says that connectors can be run from now on.
func (c *channel) live() { c.once.Do(func() { close(c.launched) }) }

// listen lets the daemon connect; each connection but the first opens a connector.
func (c *channel) listen() error {
	_ = os.Remove(c.runtime.dir.guest())
	listener, err := net.Listen("unix", c.runtime.dir.guest())
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.listener = listener
	closed := c.closed
	c.mu.Unlock()
	if closed { // the runtime ended meanwhile
		return listener.Close()
	}
	go c.serve(listener)
	return nil
}

func (c *channel) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go c.splice(conn)
	}
}

// splice gives the connection a connector of its own: HTTP/2 can't go on in the middle of another one's frames. One daemon
// talks at a time, so a new connection ends the one before.
func (c *channel) splice(conn net.Conn) {
	defer conn.Close()
	link, err := c.take()
	if err != nil {
		fmt.Fprintln(os.Stderr, "torpor-shim: no line to the guest:", err)
		return
	}
	defer link.close()
	link.pump(conn)
}

// take waits for a runtime that is being launched.
func (c *channel) take() (line, error) {
	c.taking.Lock()
	defer c.taking.Unlock()
	if first := c.offered(); first != nil {
		if err := c.use(first); err != nil {
			return nil, err
		}
		if first.answered(c.launched) {
			return first, nil
		}
	}
	<-c.launched
	link, err := c.dial()
	if err != nil {
		return nil, err
	}
	return link, c.use(link)
}

// offered gives the line that comes with the launch, if nobody had it.
func (c *channel) offered() *firstLine {
	select {
	case first := <-c.first:
		return first
	case <-c.launched:
	}
	select {
	case first := <-c.first:
		return first
	default:
		return nil
	}
}

// use ends the line before.
func (c *channel) use(next line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		next.close()
		return net.ErrClosed
	}
	if c.current != nil {
		c.current.close()
	}
	c.current = next
	return nil
}

func (c *channel) dial() (*connector, error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nil, net.ErrClosed
	}
	toGuest, fromGuest, guestIn, guestOut, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer guestIn.Close()
	defer guestOut.Close()
	link := &connector{toGuest: toGuest, fromGuest: fromGuest}
	log, err := os.OpenFile(c.runtime.dir.guestLog(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		link.close()
		return nil, err
	}
	defer log.Close()
	if err := c.runtime.calls.Exec([]string{c.runtime.config.Connector}, []*os.File{guestIn, guestOut, log}); err != nil {
		link.close()
		return nil, err
	}
	return link, nil
}

// pump needs no wait for both directions: the other one ends by the closes that follow.
func (l *connector) pump(conn net.Conn) {
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(l.toGuest, conn)
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(conn, l.fromGuest)
		ended <- struct{}{}
	}()
	<-ended
}

// newPipes makes one pipe each way; those of the guest's side are for a process that is to be started.
func newPipes() (toGuest, fromGuest, guestIn, guestOut *os.File, err error) {
	guestIn, toGuest, err = os.Pipe()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	fromGuest, guestOut, err = os.Pipe()
	if err != nil {
		return nil, nil, nil, nil, errors.Join(err, guestIn.Close(), toGuest.Close())
	}
	for _, f := range []*os.File{toGuest, fromGuest} {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeBytes)
	}
	// Fd() made them blocking; the runtime's poller is what lets a close end a read.
	return pollable(toGuest), pollable(fromGuest), guestIn, guestOut, nil
}

func pollable(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return f
	}
	_ = unix.SetNonblock(fd, true)
	_ = f.Close()
	return os.NewFile(uintptr(fd), f.Name())
}

func (l *connector) close() {
	l.once.Do(func() {
		_ = l.toGuest.Close()
		_ = l.fromGuest.Close()
	})
}

func (c *channel) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.live()
	if c.listener != nil {
		_ = c.listener.Close()
	}
	select {
	case first := <-c.first:
		first.close()
	default:
	}
	if c.current != nil {
		c.current.close()
	}
}
