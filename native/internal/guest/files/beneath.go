package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// beneath is a directory and what is below it: no name and no link leads out of it. Links within it are followed.
//
// Rejected: os.Root. It walks by openat with O_NOFOLLOW|O_DIRECTORY, and gVisor follows a link then, so that "l/x" with l
// a link to "/" reaches /x. Its openat2 keeps to RESOLVE_BENEATH.
type beneath struct {
	root   int
	last   string // the directory that was opened last: entries of an archive come a directory at a time
	parent int
}

func openBeneath(dir string) (*beneath, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &beneath{root: fd, parent: -1}, nil
}

func (b *beneath) close() {
	if b.parent >= 0 {
		unix.Close(b.parent)
	}
	unix.Close(b.root)
}

// open gives a descriptor of an existing directory, which the caller closes.
func (b *beneath) open(dir string) (int, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(b.root, dir, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN): // a rename at the same time
			continue
		case errors.Is(err, unix.EXDEV):
			return -1, invalid("leads out of the directory")
		}
		return fd, err
	}
}

// at gives the directory of a name, made if it is not there, and the name in it. The descriptor stays beneath's own.
func (b *beneath) at(name string) (int, string, error) {
	dir := path.Dir(name)
	if b.parent >= 0 && b.last == dir {
		return b.parent, path.Base(name), nil
	}
	fd, err := b.open(dir)
	if errors.Is(err, unix.ENOENT) {
		if err = b.mkdirAll(dir); err == nil {
			fd, err = b.open(dir)
		}
	}
	if err != nil {
		return -1, "", err
	}
	if b.parent >= 0 {
		unix.Close(b.parent)
	}
	b.parent, b.last = fd, dir
	return fd, path.Base(name), nil
}

func (b *beneath) mkdirAll(dir string) error {
	fd, err := b.open(path.Dir(dir))
	if errors.Is(err, unix.ENOENT) {
		if err = b.mkdirAll(path.Dir(dir)); err == nil {
			fd, err = b.open(path.Dir(dir))
		}
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Mkdirat(fd, path.Base(dir), defaultDirectoryMode); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// create makes a new file in the place of what is there.
func (b *beneath) create(name string) (*os.File, error) {
	dir, base, err := b.replace(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Openat(dir, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// replace takes away what an entry replaces, never a directory. A link itself goes, not what it leads to.
func (b *beneath) replace(name string) (dir int, base string, err error) {
	dir, base, err = b.at(name)
	if err != nil {
		return -1, "", err
	}
	var stat unix.Stat_t
	err = unix.Fstatat(dir, base, &stat, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, base, nil
	case err != nil:
		return -1, "", err
	case stat.Mode&unix.S_IFMT == unix.S_IFDIR:
		return -1, "", unix.EISDIR
	}
	return dir, base, unix.Unlinkat(dir, base, 0)
}

// directory makes one, or leaves the one that is there.
func (b *beneath) directory(name string) error {
	if fd, err := b.open(name); err == nil {
		return unix.Close(fd)
	}
	dir, base, err := b.replace(name)
	if err != nil {
		return err
	}
	return unix.Mkdirat(dir, base, 0o700)
}

func (b *beneath) symlink(to, name string) error {
	dir, base, err := b.replace(name)
	if err != nil {
		return err
	}
	return unix.Symlinkat(to, dir, base)
}

func (b *beneath) link(old, name string) error {
	from, err := b.open(path.Dir(old))
	if err != nil {
		return err
	}
	defer unix.Close(from)
	dir, base, err := b.replace(name)
	if err != nil {
		return err
	}
	return unix.Linkat(from, path.Base(old), dir, base, 0)
}

func (b *beneath) fifo(name string, mode uint32) error {
	dir, base, err := b.replace(name)
	if err != nil {
		return err
	}
	return unix.Mknodat(dir, base, unix.S_IFIFO|mode&0o777, 0)
}

// setTime sets the time of the entry itself, also of a link.
func (b *beneath) setTime(name string, modified time.Time) error {
	dir, base, err := b.at(name)
	if err != nil {
		return err
	}
	t := unix.NsecToTimespec(modified.UnixNano())
	return unix.UtimesNanoAt(dir, base, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
}

func (b *beneath) setDirectoryMode(name string, mode uint32) error {
	fd, err := b.open(name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fchmod(fd, mode)
}
