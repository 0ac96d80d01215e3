package guest

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"connectrpc.com/connect"

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
