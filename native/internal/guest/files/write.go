package files

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/users"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	defaultFileMode = 0o644
	maxLinks        = 40 // as the kernel's own bound
)

// Write replaces a whole file at once, when the last message says so.
func (s *Service) Write(_ context.Context, in *connect.ClientStream[guestv1.WriteFileRequest]) (*connect.Response[guestv1.Entry], error) {
	if !in.Receive() {
		return nil, first(in.Err(), invalid("the first message carries open"))
	}
	open := in.Msg().GetOpen()
	if open == nil {
		return nil, invalid("the first message carries open")
	}
	path, u, err := s.target(open.GetPath(), open.GetUser())
	if err != nil {
		return nil, err
	}
	var r *replacement
	if err := as(u, func() (err error) { r, err = newReplacement(path, open); return err }); err != nil {
		return nil, failure(path, err)
	}
	defer r.discard(u)
	for more := true; more; more = in.Receive() {
		if _, err := r.file.Write(in.Msg().GetData()); err != nil {
			return nil, failure(path, err)
		}
		if in.Msg().GetCommit() {
			return s.commit(r, u, path)
		}
	}
	return nil, first(in.Err(), connect.NewError(connect.CodeAborted, errors.New("the stream ended before its commit: nothing was written")))
}

func (s *Service) commit(r *replacement, u users.User, path string) (*connect.Response[guestv1.Entry], error) {
	var found *guestv1.Entry
	err := as(u, func() (err error) {
		if err = r.commit(); err == nil {
			info, statErr := r.file.Stat()
			if err = statErr; err == nil {
				found = describe(path, info, s.users.Names())
			}
		}
		return err
	})
	if err != nil {
		return nil, failure(path, err)
	}
	return connect.NewResponse(found), nil
}

// replacement is a file in the making, beside the one whose place it takes. The directory is held open: what happens to
// its path meanwhile does not matter.
type replacement struct {
	dir       int
	name      string
	temporary string
	file      *os.File
	mode      uint32
	owner     *syscall.Stat_t // of the file that it replaces
	placed    bool
}

func newReplacement(path string, open *guestv1.WriteFileOpen) (*replacement, error) {
	path, err := throughLinks(path)
	if err != nil {
		return nil, err
	}
	parent, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		return nil, syscall.EISDIR
	}
	if open.GetParents() {
		if err := os.MkdirAll(parent, defaultDirectoryMode); err != nil {
			return nil, err
		}
	}
	dir, err := unix.Open(parent, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EACCES) { // a directory may be writable and searchable but not readable
		dir, err = unix.Open(parent, unix.O_DIRECTORY|unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	r := &replacement{dir: dir, name: name, mode: open.GetMode() & 0o7777}
	if err := r.inspect(path); err != nil {
		unix.Close(dir)
		return nil, err
	}
	r.temporary = ".torpor-" + rand.Text()
	fd, err := unix.Openat(dir, r.temporary, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		unix.Close(dir)
		return nil, err
	}
	r.file = os.NewFile(uintptr(fd), path)
	return r, nil
}

// throughLinks gives the path that a write to a link reaches, which need not exist.
func throughLinks(path string) (string, error) {
	for range maxLinks {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(link) {
			link = path[:strings.LastIndexByte(path, '/')+1] + link
		}
		path = link
	}
	return "", syscall.ELOOP
}

// inspect looks at what is to be replaced. A file that the user could not write to is not replaced either, though its
// directory would allow it.
func (r *replacement) inspect(path string) error {
	fd, err := unix.Openat(r.dir, r.name, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		if r.mode == 0 {
			r.mode = defaultFileMode
		}
		return nil
	case errors.Is(err, unix.ENXIO):
		return invalid("%s: not a regular file", path)
	case errors.Is(err, unix.ETXTBSY): // a running program can be replaced, though not written to
		fd, err = unix.Openat(r.dir, r.name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	stat := &syscall.Stat_t{}
	if err := syscall.Fstat(fd, stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return invalid("%s: not a regular file", path)
	}
	if r.owner = stat; r.mode == 0 {
		r.mode = stat.Mode & 0o7777
	}
	return nil
}

func (r *replacement) commit() error {
	fd := int(r.file.Fd())
	if r.owner != nil {
		_ = unix.Fchown(fd, int(r.owner.Uid), int(r.owner.Gid)) // only root can keep another owner
	}
	if err := unix.Fchmod(fd, r.mode); err != nil { // after chown, which clears setuid
		return err
	}
	if err := unix.Fsync(fd); err != nil {
		return err
	}
	if err := unix.Renameat(r.dir, r.temporary, r.dir, r.name); err != nil {
		return err
	}
	r.placed = true
	return nil
}

func (r *replacement) discard(u users.User) {
	if !r.placed {
		_ = as(u, func() error { return unix.Unlinkat(r.dir, r.temporary, 0) })
	}
	r.file.Close()
	unix.Close(r.dir)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
