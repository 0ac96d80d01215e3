package guest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

type portStream = connect.BidiStreamForClient[guestv1.PortData, guestv1.PortData]

func dialPort(t *testing.T, c *client, port int) (*portStream, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := c.Connect(ctx)
	if err := s.Send(&guestv1.PortData{Port: uint32(port)}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Receive()
	return s, err
}

// serveOnce answers one connection.
func serveOnce(t *testing.T, network, address string, handle func(*net.TCPConn)) int {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("no %s on this host: %v", address, err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		if conn, err := l.Accept(); err == nil {
			handle(conn.(*net.TCPConn))
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func TestPortCarriesBytesBothWaysAndEachEndAlone(t *testing.T) {
	c := newClient(t)
	content := bytes.Repeat([]byte{0, 255, 'a'}, 1<<20)
	port := serveOnce(t, "tcp4", "127.0.0.1:0", func(conn *net.TCPConn) {
		got, _ := io.ReadAll(conn) // until the other side has ended: a half-closed connection still answers
		_, _ = conn.Write(got)
	})
	s, err := dialPort(t, c, port)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for rest := content; len(rest) > 0; {
			n := min(len(rest), 100_000)
			_ = s.Send(&guestv1.PortData{Data: rest[:n]})
			rest = rest[n:]
		}
		_ = s.Send(&guestv1.PortData{End: true})
	}()
	var back []byte
	for {
		m, err := s.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetEnd() {
			break
		}
		back = append(back, m.GetData()...)
	}
	if !bytes.Equal(back, content) {
		t.Fatalf("%d bytes came back of %d", len(back), len(content))
	}
	if _, err := s.Receive(); !errors.Is(err, io.EOF) {
		t.Fatalf("after both ends: %v", err)
	}
}

func TestN03PortOfIPv6Alone(t *testing.T) {
	port := serveOnce(t, "tcp6", "[::1]:0", func(conn *net.TCPConn) { _, _ = conn.Write([]byte("six")) })
	s, err := dialPort(t, newClient(t), port)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := s.Receive(); err != nil || string(m.GetData()) != "six" {
		t.Fatalf("%v %v", m, err)
	}
}

func TestN03NothingListens(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	_, err = dialPort(t, newClient(t), port)
	if code(err) != connect.CodeUnavailable || !strings.Contains(err.Error(), "nothing listens on port") {
		t.Fatalf("%v", err)
	}
	if _, err := dialPort(t, newClient(t), 70_000); code(err) != connect.CodeInvalidArgument {
		t.Fatalf("%v", err)
	}
}

func TestPortEndsWhenTheProgramBreaksOff(t *testing.T) {
	port := serveOnce(t, "tcp4", "127.0.0.1:0", func(conn *net.TCPConn) {
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.SetLinger(0)
	})
	s, err := dialPort(t, newClient(t), port)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&guestv1.PortData{Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	for {
		if m, err := s.Receive(); err != nil {
			if code(err) != connect.CodeAborted {
				t.Fatalf("%v", err)
			}
			return
		} else if m.GetEnd() {
			t.Fatal("a reset is no end")
		}
	}
}
