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
)

// echo answers on a socket that appears only after a while.
func echo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sock")
	go func() {
		time.Sleep(50 * time.Millisecond)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Close()
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, conn)
	}()
	return path
}

func TestConnectSplicesBothWaysUntilTheEnd(t *testing.T) {
	path := echo(t)
	inRead, inWrite, _ := os.Pipe()
	outRead, outWrite, _ := os.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Connect(path, func(pid int) bool { return pid == os.Getpid() }, int(inRead.Fd()), int(outWrite.Fd()))
		outWrite.Close()
	}()
	data := make([]byte, 5<<20)
	rand.Read(data)
	go func() {
		inWrite.Write(data)
		inWrite.Close()
	}()
	got, err := io.ReadAll(outRead)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	inRead.Close()
}

// Root in the sandbox may put its own socket in the place of PID 1's.
func TestConnectRefusesAnothersSocket(t *testing.T) {
	if err := Connect(echo(t), func(pid int) bool { return pid == 1 }, 0, 1); err == nil {
		t.Error("connected")
	}
}
