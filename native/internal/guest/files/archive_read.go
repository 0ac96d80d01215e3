package files

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/users"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// How many files with several names are remembered; those beyond are stored once a name.
const maxHardLinks = 100_000

// ReadArchive streams a file or a directory as a tar. Sockets have no place in one and are left out.
func (s *Service) ReadArchive(ctx context.Context, req *connect.Request[guestv1.ReadArchiveRequest], out *connect.ServerStream[guestv1.ArchiveChunk]) error {
	path, u, err := s.target(req.Msg.GetPath(), req.Msg.GetUser())
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(sendWriter(func(data []byte) error { return out.Send(&guestv1.ArchiveChunk{Data: data}) }), chunkBytes)
	a := &packer{ctx: ctx, names: s.users.Names(), out: tar.NewWriter(buffered), links: map[[2]uint64]string{}}
	err = as(u, func() error {
		name := filepath.Base(filepath.Clean(path))
		if req.Msg.GetFollow() {
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				return failure(path, err)
			}
			path = real
		}
		if name == "/" {
			name = "."
		}
		return a.add(path, name)
	})
	if err == nil {
		err = a.out.Close()
	}
	if err == nil {
		err = buffered.Flush()
	}
	return failure(path, err)
}

type sendWriter func([]byte) error

func (w sendWriter) Write(data []byte) (int, error) {
	if err := w(data); err != nil {
		return 0, err
	}
	return len(data), nil
}

type packer struct {
	ctx   context.Context
	names *users.Names
	out   *tar.Writer
	links map[[2]uint64]string // first name of a file with several, by device and inode
}

func (a *packer) add(path, name string) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return failure(path, err)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return failure(path, a.file(path, name))
	case mode.IsDir():
		return a.directory(path, name, info)
	case mode&fs.ModeSocket != 0:
		return nil
	case mode&fs.ModeSymlink != 0:
		link, err := os.Readlink(path)
		if err != nil {
			return failure(path, err)
		}
		return a.header(info, name, link)
	}
	return a.header(info, name, "")
}

func (a *packer) directory(path, name string, info fs.FileInfo) error {
	if err := a.header(info, name+"/", ""); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return failure(path, err)
	}
	for _, e := range entries {
		child := path + "/" + e.Name()
		if err := a.add(child, name+"/"+e.Name()); err != nil {
			if connect.CodeOf(err) == connect.CodeNotFound {
				continue // gone since
			}
			return err
		}
	}
	return nil
}

// file stores what the header says, byte for byte, though the file may grow or shrink meanwhile.
func (a *packer) file(path, name string) error {
	file, err := openRegular(path, syscall.O_NOFOLLOW)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if first, linked := a.known(info, name); linked {
		h, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		return a.write(h, info, name)
	}
	if err := a.header(info, name, ""); err != nil {
		return err
	}
	n, err := io.Copy(a.out, cancellable{a.ctx, io.LimitReader(file, info.Size())})
	if err == nil && n < info.Size() {
		_, err = io.CopyN(a.out, cancellable{a.ctx, zeros{}}, info.Size()-n)
	}
	return err
}

func (a *packer) known(info fs.FileInfo, name string) (string, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink < 2 {
		return "", false
	}
	key := [2]uint64{stat.Dev, stat.Ino}
	if first, ok := a.links[key]; ok {
		return first, true
	}
	if len(a.links) < maxHardLinks {
		a.links[key] = name
	}
	return "", false
}

func (a *packer) header(info fs.FileInfo, name, link string) error {
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	return a.write(h, info, name)
}

func (a *packer) write(h *tar.Header, info fs.FileInfo, name string) error {
	h.Name, h.Format = name, tar.FormatPAX
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		h.Uname, h.Gname = text(a.names.User(stat.Uid)), text(a.names.Group(stat.Gid))
		if stat.Mode&unix.S_IFMT == unix.S_IFCHR || stat.Mode&unix.S_IFMT == unix.S_IFBLK {
			h.Devmajor, h.Devminor = int64(unix.Major(stat.Rdev)), int64(unix.Minor(stat.Rdev))
		}
	}
	h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
	err := a.out.WriteHeader(h)
	if err != nil && strings.Contains(err.Error(), "archive/tar") { // a name that no header can hold, such as one with a NUL
		return invalid("%s: %v", name, err)
	}
	return err
}

type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// moveAcross moves one regular file to another file system: copied beside its new place, put there at once, then removed.
// Directories would have to be copied and removed in many steps, any of which may fail.
func moveAcross(from, to string) error {
	source, err := openRegular(from, syscall.O_NOFOLLOW)
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ELOOP) {
		return syscall.EXDEV
	}
	if err != nil {
		return failure(from, err)
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	r, err := newReplacement(to, &guestv1.WriteFileOpen{Mode: stat.Mode & 0o7777})
	if err != nil {
		return err
	}
	defer r.discard(users.User{UID: uint32(unix.Geteuid())})
	if r.owner == nil {
		r.owner = stat
	}
	if _, err := io.Copy(r.file, source); err != nil {
		return err
	}
	if err := r.commit(); err != nil {
		return err
	}
	_ = os.Chtimes(to, info.ModTime(), info.ModTime())
	return os.Remove(from)
}
