package guest

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/launchline"
)

// shimEnds are the host's ends of the pipes behind a line's descriptors.
type shimEnds struct {
	to     *os.File
	writer *launchline.Writer
	reader *launchline.Reader
}

func pipes(t *testing.T) (in, out *os.File, ends shimEnds) {
	t.Helper()
	in, to, _ := os.Pipe()
	from, out, _ := os.Pipe()
	t.Cleanup(func() { in.Close(); out.Close(); to.Close(); from.Close() })
	return in, out, shimEnds{to, launchline.NewWriter(to), launchline.NewReader(from)}
}

// open opens a line and waits until the guest has taken it up.
func (e shimEnds) open(t *testing.T, nonce launchline.Nonce, conns <-chan net.Conn) net.Conn {
	t.Helper()
	if _, err := e.to.Write(launchline.Opening(nonce)); err != nil {
		t.Fatal(err)
	}
	if err := e.reader.Skip(nonce); err != nil {
		t.Fatal(err)
	}
	return <-conns
}

func firstLineOf(t *testing.T) (*firstLine, <-chan net.Conn, shimEnds) {
	t.Helper()
	in, out, ends := pipes(t)
	line, err := newFirstLine(in, out)
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan net.Conn)
	go func() { _ = line.run(func(c net.Conn) { conns <- c }) }()
	return line, conns, ends
}

func expectEcho(t *testing.T, conn net.Conn, ends shimEnds, text string) {
	t.Helper()
	if _, err := ends.writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != text {
		t.Fatalf("the guest reads %q, %v", got, err)
	}
	if _, err := conn.Write(got); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(ends.reader, got); err != nil || string(got) != text {
		t.Fatalf("the host reads %q, %v", got, err)
	}
}

func TestANewLineEndsTheConnectionBefore(t *testing.T) {
	_, conns, ends := firstLineOf(t)
	first := ends.open(t, launchline.Nonce{1}, conns)
	expectEcho(t, first, ends, "one")
	ended := make(chan error, 1)
	go func() {
		_, err := first.Read(make([]byte, 1))
		ended <- err
	}()
	second := ends.open(t, launchline.Nonce{2}, conns)
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read of the connection before: %v", err)
	}
	if _, err := first.Write([]byte("late")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write to it: %v", err)
	}
	expectEcho(t, second, ends, "two")
}

func TestEitherSideCanCloseAConnection(t *testing.T) {
	_, conns, ends := firstLineOf(t)
	conn := ends.open(t, launchline.Nonce{1}, conns)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ends.reader.Read(make([]byte, 1)); !errors.Is(err, launchline.ErrClosed) {
		t.Errorf("the host sees %v", err)
	}
	_, _ = ends.writer.Write([]byte("nobody reads this"))
	conn = ends.open(t, launchline.Nonce{2}, conns)
	if err := ends.writer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the guest sees %v", err)
	}
	expectEcho(t, ends.open(t, launchline.Nonce{3}, conns), ends, "again")
}

// As when the shim is killed, and others have the pipes' ends after the next restore.
func TestALineOutlivesItsHost(t *testing.T) {
	dir := t.TempDir()
	open := func(name string, flags int) *os.File {
		path := filepath.Join(dir, name)
		if err := unix.Mkfifo(path, 0o600); err != nil && !errors.Is(err, unix.EEXIST) {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	ends := func() shimEnds {
		from := open("out", os.O_RDONLY)
		to := open("in", os.O_WRONLY)
		return shimEnds{to, launchline.NewWriter(to), launchline.NewReader(from)}
	}
	in, from := open("in", os.O_RDONLY), open("out", os.O_RDONLY)
	line, err := newFirstLine(in, open("out", os.O_WRONLY))
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan net.Conn)
	go func() { _ = line.run(func(c net.Conn) { conns <- c }) }()
	first := ends()
	from.Close()
	conn := first.open(t, launchline.Nonce{1}, conns)
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_, _ = first.to.Write([]byte{1, 0x70}) // a frame that is cut
	first.to.Close()
	second := ends()
	expectEcho(t, second.open(t, launchline.Nonce{2}, conns), second, "here again")
}
