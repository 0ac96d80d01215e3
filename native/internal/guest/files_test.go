package guest

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

func put(c *client, open *guestv1.WriteFileOpen, data []byte, commit bool) (*guestv1.Entry, error) {
	stream := c.FilesClient.Write(background)
	_ = stream.Send(&guestv1.WriteFileRequest{Open: open, Commit: commit && len(data) == 0})
	for len(data) > 0 {
		n := min(len(data), 256<<10)
		last := n == len(data)
		if err := stream.Send(&guestv1.WriteFileRequest{Data: data[:n], Commit: commit && last}); err != nil {
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

func get(c *client, req *guestv1.ReadRequest) ([]byte, *guestv1.Entry, error) {
	stream, err := c.Read(background, connect.NewRequest(req))
	if err != nil {
		return nil, nil, err
	}
	defer stream.Close()
	var data []byte
	var entry *guestv1.Entry
	for stream.Receive() {
		if entry == nil {
			entry = stream.Msg().GetEntry()
		}
		data = append(data, stream.Msg().GetData()...)
	}
	return data, entry, stream.Err()
}

func lsNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// L01: every size comes back as it went.
func TestWritesAndReadsFilesOfAllSizes(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	for _, size := range []int{0, 1, 4095, 4096, 18000, 65535, 65536, 65537, 131072, 1 << 20, 100_000_000} {
		data := make([]byte, size)
		rand.Read(data)
		path := fmt.Sprint(dir, "/f", size)
		e, err := put(c, &guestv1.WriteFileOpen{Path: path}, data, true)
		if err != nil || e.GetSize() != uint64(size) || e.GetMode() != 0o644 {
			t.Fatalf("%d: %v, %v", size, e, err)
		}
		back, e, err := get(c, &guestv1.ReadRequest{Path: path})
		if err != nil || e.GetSize() != uint64(size) || sha256.Sum256(back) != sha256.Sum256(data) {
			t.Errorf("%d: %d came back, %v", size, len(back), err)
		}
		os.Remove(path)
	}
	if left := lsNames(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReadsAPart(t *testing.T) {
	c := newClient(t)
	path := filepath.Join(t.TempDir(), "f")
	os.WriteFile(path, []byte("0123456789"), 0o600)
	if data, _, err := get(c, &guestv1.ReadRequest{Path: path, Offset: 3, Length: 4}); string(data) != "3456" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if data, _, err := get(c, &guestv1.ReadRequest{Path: path, Offset: 99}); len(data) != 0 || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

func TestLeavesTheOldFileWhenAWriteBreaksOff(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	os.WriteFile(path, []byte("old"), 0o640)
	if _, err := put(c, &guestv1.WriteFileOpen{Path: path}, []byte("new"), false); code(err) != connect.CodeAborted {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("is %q", data)
	}
	if left := lsNames(t, dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestKeepsModeOwnerAndLinkOfAReplacedFile(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	os.WriteFile(real, []byte("old"), 0o640)
	if os.Geteuid() == 0 {
		os.Chown(real, 1234, 2345)
	}
	os.Symlink("real", link)
	if _, err := put(c, &guestv1.WriteFileOpen{Path: link}, []byte("new"), true); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Lstat(real)
	if data, _ := os.ReadFile(real); string(data) != "new" || info.Mode() != 0o640 {
		t.Errorf("%q %v", data, info.Mode())
	}
	if stat := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && (stat.Uid != 1234 || stat.Gid != 2345) {
		t.Errorf("owner %d:%d", stat.Uid, stat.Gid)
	}
	if to, _ := os.Readlink(link); to != "real" {
		t.Error("the link is gone")
	}
}

// L06: errors say what is wrong.
func TestNamesFileErrors(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	os.WriteFile(dir+"/file", nil, 0o600)
	os.MkdirAll(dir+"/full/x", 0o755)
	syscall.Mkfifo(dir+"/fifo", 0o600)
	list := func(path string) error {
		_, err := c.ListDirectory(background, connect.NewRequest(&guestv1.ListDirectoryRequest{Path: path}))
		return err
	}
	read := func(path string) error { _, _, err := get(c, &guestv1.ReadRequest{Path: path}); return err }
	mkdir := func(path string) error {
		_, err := c.MakeDirectory(background, connect.NewRequest(&guestv1.MakeDirectoryRequest{Path: path}))
		return err
	}
	remove := func(path string) error {
		_, err := c.FilesClient.Remove(background, connect.NewRequest(&guestv1.RemoveFileRequest{Path: path}))
		return err
	}
	write := func(path string) error {
		_, err := put(c, &guestv1.WriteFileOpen{Path: path}, []byte("x"), true)
		return err
	}
	for name, x := range map[string]struct {
		err  error
		code connect.Code
	}{
		"list missing":   {list(dir + "/nope"), connect.CodeNotFound},
		"list a file":    {list(dir + "/file"), connect.CodeInvalidArgument},
		"list nothing":   {list(""), connect.CodeInvalidArgument},
		"list a FIFO":    {list(dir + "/fifo"), connect.CodeInvalidArgument},
		"read missing":   {read(dir + "/nope"), connect.CodeNotFound},
		"read a dir":     {read(dir), connect.CodeInvalidArgument},
		"read a FIFO":    {read(dir + "/fifo"), connect.CodeInvalidArgument},
		"read below":     {read(dir + "/file/x"), connect.CodeInvalidArgument},
		"mkdir existing": {mkdir(dir + "/file"), connect.CodeAlreadyExists},
		"rmdir full":     {remove(dir + "/full"), connect.CodeFailedPrecondition},
		"remove missing": {remove(dir + "/nope"), connect.CodeNotFound},
		"write a dir":    {write(dir), connect.CodeInvalidArgument},
		"write a FIFO":   {write(dir + "/fifo"), connect.CodeInvalidArgument},
		"write nowhere":  {write(dir + "/no/where"), connect.CodeNotFound},
		"bad user": {func() error {
			_, err := c.Stat(background, connect.NewRequest(&guestv1.StatRequest{Path: dir, User: "nobody-here"}))
			return err
		}(), connect.CodeInvalidArgument},
	} {
		if code(x.err) != x.code {
			t.Errorf("%s: %v, want %v", name, x.err, x.code)
		}
	}
}

func TestActsAsTheUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	c := newClient(t)
	dir := t.TempDir()
	for d := dir; d != "/"; d = filepath.Dir(d) {
		if info, _ := os.Stat(d); info.Mode()&0o001 == 0 {
			os.Chmod(d, 0o711)
		}
	}
	os.Mkdir(dir+"/closed", 0o700)
	os.Mkdir(dir+"/open", 0o777)
	os.Chmod(dir+"/open", 0o777)
	if _, err := c.ListDirectory(background, connect.NewRequest(&guestv1.ListDirectoryRequest{Path: dir + "/closed", User: "1234"})); code(err) != connect.CodePermissionDenied {
		t.Errorf("list: %v", err)
	}
	if _, err := put(c, &guestv1.WriteFileOpen{Path: dir + "/closed/f", User: "1234"}, []byte("x"), true); code(err) != connect.CodePermissionDenied {
		t.Errorf("write: %v", err)
	}
	e, err := put(c, &guestv1.WriteFileOpen{Path: dir + "/open/a/f", User: "1234:2345", Parents: true}, []byte("x"), true)
	if err != nil || e.GetUid() != 1234 || e.GetGid() != 2345 || e.GetOwner() != "1234" {
		t.Errorf("got %v, %v", e, err)
	}
	if _, err := c.Stat(background, connect.NewRequest(&guestv1.StatRequest{Path: dir + "/closed"})); err != nil {
		t.Errorf("root afterwards: %v", err)
	}
	r, err := c.run(t, &guestv1.StartRequest{SessionId: "id", Argv: []string{"sh", "-c", "id -u; id -g; echo $HOME $USER"}, User: "1234:2345"})
	if err != nil || string(r.stdout) != "1234\n2345\n/ 1234\n" {
		t.Errorf("session: %+v, %v", r, err)
	}
}

// L07: names are bytes.
func TestTakesOddNames(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	names := []string{"a%20b", "a b", "a+b", "x#y?z", "%2e%2e", "new\nline", "-rf", "ü"}
	for _, name := range names {
		if _, err := put(c, &guestv1.WriteFileOpen{Path: dir + "/" + name}, []byte(name), true); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	os.WriteFile(dir+"/bad\xff", nil, 0o600)
	l, err := c.ListDirectory(background, connect.NewRequest(&guestv1.ListDirectoryRequest{Path: dir}))
	if err != nil || len(l.Msg.GetEntries()) != len(names)+1 {
		t.Fatalf("%v, %v", l, err)
	}
	for _, name := range names {
		if data, _, err := get(c, &guestv1.ReadRequest{Path: dir + "/" + name}); string(data) != name || err != nil {
			t.Errorf("%q: %q, %v", name, data, err)
		}
	}
}

func TestMovesAndListsDeep(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	os.MkdirAll(dir+"/a/b", 0o755)
	os.WriteFile(dir+"/a/b/f", []byte("x"), 0o600)
	if _, err := c.Move(background, connect.NewRequest(&guestv1.MoveRequest{From: dir + "/a/b/f", To: dir + "/a/g"})); err != nil {
		t.Fatal(err)
	}
	l, err := c.ListDirectory(background, connect.NewRequest(&guestv1.ListDirectoryRequest{Path: dir, Depth: 3}))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range l.Msg.GetEntries() {
		paths = append(paths, strings.TrimPrefix(e.GetPath(), dir))
	}
	if strings.Join(paths, " ") != "/a /a/b /a/g" {
		t.Errorf("got %v", paths)
	}
}

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
