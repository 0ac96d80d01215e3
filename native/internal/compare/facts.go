package compare

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/sparse"
)

// Facts are what is told of a file.
type Facts struct {
	Type   string `json:"type"` // file, directory, symlink, other
	Mode   uint32 `json:"mode"`
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"`
	Size   int64  `json:"size"`
	Target []byte `json:"target,omitempty"` // of a symbolic link
}

// file is one name in a tree; nil: it is not there.
type file struct {
	facts  Facts
	format uint32
	device uint64 // of a device node
	parent *os.File
	name   string
}

// look reads what is at a name, itself and not what it points to.
func look(parent *os.File, name string) (*file, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(int(parent.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	f := &file{format: stat.Mode & unix.S_IFMT, parent: parent, name: name}
	f.facts = Facts{Type: "other", Mode: stat.Mode & 0o7777, UID: stat.Uid, GID: stat.Gid}
	switch f.format {
	case unix.S_IFREG:
		f.facts.Type, f.facts.Size = "file", stat.Size
	case unix.S_IFDIR:
		f.facts.Type = "directory"
	case unix.S_IFLNK:
		f.facts.Type = "symlink"
		f.facts.Target, err = readLink(parent, name)
	case unix.S_IFCHR, unix.S_IFBLK:
		f.device = uint64(stat.Rdev)
	}
	return f, err
}

func readLink(parent *os.File, name string) ([]byte, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(parent.Fd()), name, target)
	if err != nil {
		return nil, &os.PathError{Op: "readlink", Path: name, Err: err}
	}
	return target[:n], nil
}

func (f *file) isDirectory() bool { return f != nil && f.format == unix.S_IFDIR }

// differences are the ways in which b is another than a.
func differences(a, b *file) (what []string, err error) {
	if a.format != b.format || a.device != b.device {
		return []string{"type"}, nil
	}
	same, err := sameContent(a, b)
	if err != nil {
		return nil, err
	}
	if !same {
		what = append(what, "content")
	}
	// A link has no mode of its own.
	if a.facts.Mode != b.facts.Mode {
		what = append(what, "mode")
	}
	if a.facts.UID != b.facts.UID || a.facts.GID != b.facts.GID {
		what = append(what, "owner")
	}
	return what, nil
}

func sameContent(a, b *file) (bool, error) {
	switch a.format {
	case unix.S_IFLNK:
		return bytes.Equal(a.facts.Target, b.facts.Target), nil
	case unix.S_IFREG:
		if a.facts.Size != b.facts.Size || a.facts.Size == 0 {
			return a.facts.Size == b.facts.Size, nil
		}
	default:
		return true, nil
	}
	first, err := a.open()
	if err != nil {
		return false, err
	}
	defer first.Close()
	second, err := b.open()
	if err != nil {
		return false, err
	}
	defer second.Close()
	return sameBytes(first, second)
}

// open is for regular files: nothing else changes these trees, so what was looked at is what is opened.
func (f *file) open() (*os.File, error) {
	fd, err := unix.Openat(int(f.parent.Fd()), f.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: f.name, Err: err}
	}
	return os.NewFile(uintptr(fd), f.name), nil
}

const chunkBytes = 1 << 20

// sameBytes compares files of one size. What is a hole in both is not read: a guest may make a file of terabytes that has nothing in it.
func sameBytes(a, b *os.File) (bool, error) {
	first, second := make([]byte, chunkBytes), make([]byte, chunkBytes)
	for offset := int64(0); ; {
		start, err := nextOfEither(a, b, offset)
		if err != nil || start < 0 {
			return err == nil, err
		}
		n, err := a.ReadAt(first, start)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		m, err := b.ReadAt(second, start)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if n != m || !bytes.Equal(first[:n], second[:m]) {
			return false, nil
		}
		if n == 0 {
			return true, nil
		}
		offset = start + int64(n)
	}
}

func nextOfEither(a, b *os.File, offset int64) (int64, error) {
	first, err := sparse.FirstData(a, offset)
	if err != nil {
		return 0, err
	}
	second, err := sparse.FirstData(b, offset)
	if err != nil {
		return 0, err
	}
	if first < 0 || (second >= 0 && second < first) {
		return second, nil
	}
	return first, nil
}
