package guest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

func pack(t *testing.T, c *client, path string) []byte {
	t.Helper()
	stream, err := c.ReadArchive(background, connect.NewRequest(&guestv1.ReadArchiveRequest{Path: path}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var data []byte
	for stream.Receive() {
		data = append(data, stream.Msg().GetData()...)
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	return data
}

func unpack(c *client, path string, data []byte) (*guestv1.WriteArchiveResponse, error) {
	stream := c.WriteArchive(background)
	_ = stream.Send(&guestv1.WriteArchiveRequest{Open: &guestv1.WriteArchiveOpen{Path: path}})
	for len(data) > 0 {
		n := min(len(data), 100_000)
		if stream.Send(&guestv1.WriteArchiveRequest{Data: data[:n]}) != nil {
			break
		}
		data = data[n:]
	}
	r, err := stream.CloseAndReceive()
	if err != nil {
		return nil, err
	}
	return r.Msg, nil
}

func TestPacksAndUnpacksATree(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	src := dir + "/src"
	os.MkdirAll(src+"/sub", 0o755)
	old := time.Unix(1_600_000_000, 123_456_789)
	os.WriteFile(src+"/f", []byte("data"), 0o600)
	syscall.Chmod(src+"/f", 0o4751)
	os.Chtimes(src+"/f", old, old)
	os.Link(src+"/f", src+"/sub/hard")
	os.Symlink("../nowhere", src+"/sub/soft")
	syscall.Mkfifo(src+"/fifo", 0o600)
	long := src + "/" + strings.Repeat("n", 200) + "ü"
	os.WriteFile(long, nil, 0o600)
	sparse, _ := os.Create(src + "/sparse")
	sparse.WriteAt([]byte("end"), 50<<20)
	sparse.Close()
	fd, _ := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	defer syscall.Close(fd)
	syscall.Bind(fd, &syscall.SockaddrUnix{Name: src + "/socket"})
	os.Chmod(src+"/sub", 0o555)
	os.Chtimes(src+"/sub", old, old)

	r, err := unpack(c, dir+"/dst", pack(t, c, src))
	if err != nil {
		t.Fatal(err)
	}
	if r.GetBytes() != 4+50<<20+3 || r.GetFiles() != 8 {
		t.Errorf("got %v", r)
	}
	dst := dir + "/dst/src"
	info, err := os.Stat(dst + "/f")
	if err != nil || !info.ModTime().Equal(old) || info.Sys().(*syscall.Stat_t).Mode&0o7777 != 0o4751 {
		t.Errorf("file %v, %v", info, err)
	}
	hard, _ := os.Stat(dst + "/sub/hard")
	if !os.SameFile(info, hard) {
		t.Error("no hard link")
	}
	if to, _ := os.Readlink(dst + "/sub/soft"); to != "../nowhere" {
		t.Errorf("link to %q", to)
	}
	if sub, err := os.Stat(dst + "/sub"); err != nil || sub.Mode().Perm() != 0o555 || !sub.ModTime().Equal(old) {
		t.Errorf("directory %v, %v", sub, err)
	}
	_, engine := os.Stat("/proc/gvisor") // which counts blocks by size
	if big, err := os.Stat(dst + "/sparse"); err != nil || big.Size() != 50<<20+3 || (engine != nil && big.Sys().(*syscall.Stat_t).Blocks > 1000) {
		t.Errorf("sparse file %v, %v", big, err)
	}
	if fifo, err := os.Lstat(dst + "/fifo"); err != nil || fifo.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("FIFO %v, %v", fifo, err)
	}
	if _, err := os.Lstat(dst + "/socket"); err == nil {
		t.Error("a socket was packed")
	}
}

// L09: nothing is written outside the directory, whatever the archive says or somebody swaps meanwhile.
func TestUnpacksNothingOutside(t *testing.T) {
	c := newClient(t)
	for name, headers := range map[string][]tar.Header{
		"dots":          {{Name: "../out", Typeflag: tar.TypeReg}},
		"inner dots":    {{Name: "a/../../out", Typeflag: tar.TypeReg}},
		"absolute":      {{Name: "/OUT", Typeflag: tar.TypeReg}},
		"through link":  {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "l/out", Typeflag: tar.TypeReg}},
		"absolute link": {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/"}, {Name: "l/OUT", Typeflag: tar.TypeReg}},
		"hard link":     {{Name: "h", Typeflag: tar.TypeLink, Linkname: "../secret"}},
		"dir by link":   {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "l/out/", Typeflag: tar.TypeDir}},
		"existing link": {{Name: "gate/out", Typeflag: tar.TypeReg}},
		"device":        {{Name: "d", Typeflag: tar.TypeChar}},
	} {
		dir := t.TempDir()
		os.WriteFile(dir+"/secret", []byte("s"), 0o600)
		os.Mkdir(dir+"/dst", 0o755)
		os.Symlink("..", dir+"/dst/gate")
		var data bytes.Buffer
		w := tar.NewWriter(&data)
		for _, h := range headers {
			h.Mode = 0o644
			h.Name = strings.ReplaceAll(h.Name, "/OUT", dir+"/out")
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		if _, err := unpack(c, dir+"/dst", data.Bytes()); code(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
		if left := lsNames(t, dir); strings.Join(left, " ") != "dst secret" {
			t.Errorf("%s: outside are now %v", name, left)
		}
	}
}

func TestReplacesALinkRatherThanItsTarget(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	os.WriteFile(dir+"/secret", []byte("s"), 0o600)
	os.Mkdir(dir+"/dst", 0o755)
	os.Symlink("../secret", dir+"/dst/f")
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	w.WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg, Mode: 0o644, Size: 1})
	io.WriteString(w, "x")
	w.Close()
	if _, err := unpack(c, dir+"/dst", data.Bytes()); err != nil {
		t.Fatal(err)
	}
	if s, _ := os.ReadFile(dir + "/secret"); string(s) != "s" {
		t.Error("the target was written")
	}
	if _, err := unpack(c, dir+"/dst", data.Bytes()[:512]); code(err) != connect.CodeInvalidArgument {
		t.Errorf("cut archive: %v", err)
	}
}

func TestUnpacksNothingOutsideWhileALinkIsSwapped(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	for _, d := range []string{"dst/d", "out"} {
		os.MkdirAll(dir+"/"+d, 0o755)
	}
	os.Symlink("../out", dir+"/dst/link")
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for i := range 50 {
		w.WriteHeader(&tar.Header{Name: fmt.Sprint("d/f", i), Typeflag: tar.TypeReg, Mode: 0o644})
		w.WriteHeader(&tar.Header{Name: fmt.Sprint("e", i), Typeflag: tar.TypeReg, Mode: 0o644}) // makes it look d up again
	}
	w.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, dir+"/dst/d", unix.AT_FDCWD, dir+"/dst/link", unix.RENAME_EXCHANGE)
			}
		}
	}()
	for range 20 {
		_, _ = unpack(c, dir+"/dst", data.Bytes()) // it may be refused, or not
	}
	close(stop)
	<-stopped
	if left := lsNames(t, dir+"/out"); len(left) > 0 {
		t.Errorf("outside are %v", left)
	}
}
