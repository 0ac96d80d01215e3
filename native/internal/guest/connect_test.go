package guest

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torpor.dev/torpor/native/internal/connector"
)

// accepting listens after a while on the path that it gives, and passes on what it accepts.
func accepting(t *testing.T) (string, <-chan net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sock")
	conns := make(chan net.Conn, 2)
	go func() {
		time.Sleep(50 * time.Millisecond)
		inner, err := net.Listen("unix", path)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { inner.Close() })
		l := newHostListener(inner, nil)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	return path, conns
}

func isMe(pid int) bool { return pid == os.Getpid() }

// host makes the pipes that a host would give, hands them over, and returns its own ends.
func host(t *testing.T, path string) (toGuest, fromGuest *os.File) {
	t.Helper()
	inRead, inWrite, _ := os.Pipe()
	outRead, outWrite, _ := os.Pipe()
	if err := connector.Connect(path, isMe, int(inRead.Fd()), int(outWrite.Fd())); err != nil {
		t.Fatal(err)
	}
	inRead.Close()
	outWrite.Close()
	t.Cleanup(func() { inWrite.Close(); outRead.Close() })
	return inWrite, outRead
}

func TestConnectHandsItsPipesOver(t *testing.T) {
	path, conns := accepting(t)
	toGuest, fromGuest := host(t, path)
	conn := <-conns
	go func() {
		_, _ = io.Copy(conn, conn)
		conn.Close()
	}()
	data := make([]byte, 5<<20)
	_, _ = rand.Read(data)
	go func() {
		_, _ = toGuest.Write(data)
		toGuest.Close()
	}()
	got, err := io.ReadAll(fromGuest)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
	}
}

func TestANewConnectionEndsTheOneBefore(t *testing.T) {
	path, conns := accepting(t)
	_, fromFirst := host(t, path)
	first := <-conns
	reading := make(chan error, 1)
	go func() {
		_, err := first.Read(make([]byte, 1))
		reading <- err
	}()
	host(t, path)
	<-conns
	if err := <-reading; err == nil {
		t.Error("a read of the connection before goes on")
	}
	if rest, err := io.ReadAll(fromFirst); err != nil || len(rest) > 0 {
		t.Errorf("its host sees %q, %v", rest, err)
	}
}

func TestAPeerWithoutPipesIsNotAConnection(t *testing.T) {
	path, conns := accepting(t)
	var peer net.Conn
	for deadline := time.Now().Add(time.Minute); peer == nil; time.Sleep(5 * time.Millisecond) {
		var err error
		if peer, err = net.Dial("unix", path); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	_, _ = peer.Write([]byte("PRI * HTTP/2.0"))
	if _, err := peer.Read(make([]byte, 1)); err == nil {
		t.Error("it got an answer")
	}
	host(t, path)
	<-conns
}

func TestConnectRefusesASocketThatIsNotPid1s(t *testing.T) {
	path, _ := accepting(t)
	if err := connector.Connect(path, func(pid int) bool { return pid == 1 }, 0, 1); err == nil {
		t.Error("it spoke to another process")
	}
}
