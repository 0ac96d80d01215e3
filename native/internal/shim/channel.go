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

// channel is the line to the guest: torpor-connect, run by the engine's exec with pipes as its stdio, hands them over to
// PID 1 and ends. The daemon connects to guest.sock, and its bytes go through the pipes.
//
// They have to be real pipes: a checkpoint with a socketpair among the stdio of a live exec can't be restored.
type channel struct {
	runtime *Runtime

	mu       sync.Mutex
	listener net.Listener
	next     *connector // opened ahead for the next connection
	current  *connector
	closed   bool
}

// connector is one exec: the ends of the pipes that are ours.
type connector struct {
	toGuest, fromGuest *os.File
	once               sync.Once
}

func newChannel(r *Runtime) *channel { return &channel{runtime: r} }

// prepare opens a connector ahead and begins to listen, so that the daemon's first call finds it ready.
func (c *channel) prepare() error {
	first, err := c.dial()
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.next = first
	c.mu.Unlock()
	if err := c.listen(); err != nil {
		first.close()
		return err
	}
	return nil
}

// listen lets the daemon connect; each connection that finds no connector ready opens one.
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
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(link.toGuest, conn)
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(conn, link.fromGuest)
		ended <- struct{}{}
	}()
	<-ended // its other direction ends by the closes below
}

func (c *channel) take() (*connector, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, net.ErrClosed
	}
	link := c.next
	c.next = nil
	if link == nil {
		var err error
		if link, err = c.dial(); err != nil {
			return nil, err
		}
	}
	if c.current != nil {
		c.current.close()
	}
	c.current = link
	return link, nil
}

func (c *channel) dial() (*connector, error) {
	guestIn, toGuest, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromGuest, guestOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, guestIn.Close(), toGuest.Close())
	}
	defer guestIn.Close()
	defer guestOut.Close()
	for _, f := range []*os.File{toGuest, fromGuest} {
		// 1 MiB pipes move bulk data in fewer, larger steps.
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	}
	log, err := os.OpenFile(c.runtime.dir.guestLog(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	err = c.runtime.calls.Exec([]string{c.runtime.config.Connector}, []*os.File{guestIn, guestOut, log})
	if err != nil {
		return nil, err
	}
	// Fd() made them blocking; the runtime's poller is what lets a close end a read.
	toGuest, fromGuest = pollable(toGuest), pollable(fromGuest)
	return &connector{toGuest: toGuest, fromGuest: fromGuest}, nil
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
	if c.listener != nil {
		_ = c.listener.Close()
	}
	for _, link := range []*connector{c.next, c.current} {
		if link != nil {
			link.close()
		}
	}
}
