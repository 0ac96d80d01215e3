// Package ports connects the host to what listens in the sandbox, whatever network it has.
package ports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	chunkBytes  = 64 << 10
	dialTimeout = 5 * time.Second
)

// Service speaks the protocol's Ports.
type Service struct {
	own func() string
}

// NewService: own gives the sandbox's address, empty without network.
func NewService(own func() string) Service { return Service{own} }

type stream = connect.BidiStream[guestv1.PortData, guestv1.PortData]

// Connect dials a port and carries bytes both ways.
func (s Service) Connect(ctx context.Context, outside *stream) error {
	first, err := outside.Receive()
	if err != nil {
		return err
	}
	port := first.GetPort()
	if port < 1 || port > 65535 {
		return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("a port is between 1 and 65535, not %d", port))
	}
	inside, err := s.dial(ctx, port)
	if err != nil {
		return err
	}
	defer inside.Close()
	// A stream that breaks off must end a read that waits for the program.
	defer context.AfterFunc(ctx, func() { inside.Close() })()
	if err := outside.Send(&guestv1.PortData{}); err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() {
		err := receive(outside, inside)
		if err != nil {
			inside.Close()
		}
		received <- err
	}()
	if err := send(outside, inside); err != nil {
		return err // ends the receiving too: the stream is over when this returns
	}
	return <-received
}

// dial: a program may listen on one of these alone.
func (s Service) dial(ctx context.Context, port uint32) (*net.TCPConn, error) {
	addresses := []string{"127.0.0.1", "::1"}
	if own, err := netip.ParseAddr(s.own()); err == nil {
		addresses = append(addresses, own.String())
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, address := range addresses {
		if conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port)))); err == nil {
			return conn.(*net.TCPConn), nil
		}
	}
	return nil, connect.NewError(connect.CodeUnavailable, fmt.Errorf("nothing listens on port %d in the sandbox", port))
}

// send carries what the program writes outside.
func send(outside *stream, inside *net.TCPConn) error {
	buffer := make([]byte, chunkBytes)
	for {
		n, err := inside.Read(buffer)
		if n > 0 {
			if failed := outside.Send(&guestv1.PortData{Data: buffer[:n]}); failed != nil {
				return failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return outside.Send(&guestv1.PortData{End: true})
		case err != nil:
			return connect.NewError(connect.CodeAborted, fmt.Errorf("the program broke the connection off: %w", err))
		}
	}
}

// receive carries what comes from outside to the program, until that side has ended.
func receive(outside *stream, inside *net.TCPConn) error {
	for {
		message, err := outside.Receive()
		if errors.Is(err, io.EOF) || message.GetEnd() {
			return inside.CloseWrite()
		}
		if err != nil {
			return err
		}
		if _, err := inside.Write(message.GetData()); err != nil {
			// It reads no more; what it still writes is wanted.
			return drain(outside)
		}
	}
}

func drain(outside *stream) error {
	for {
		if message, err := outside.Receive(); errors.Is(err, io.EOF) || message.GetEnd() {
			return nil
		} else if err != nil {
			return err
		}
	}
}
