package files

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	// Directories whose mode and time are set at the end, so that a read-only one does not refuse its own content.
	maxLateDirectories = 200_000
	holeBytes          = 64 << 10
)

// WriteArchive unpacks a tar below a directory. Every step goes through a handle of that directory which refuses to leave
// it, so a link swapped in at any moment leads nowhere. Owners are not taken over: what is made is the user's.
func (s *Service) WriteArchive(ctx context.Context, in *connect.ClientStream[guestv1.WriteArchiveRequest]) (*connect.Response[guestv1.WriteArchiveResponse], error) {
	if !in.Receive() {
		return nil, first(in.Err(), invalid("the first message carries open"))
	}
	open := in.Msg().GetOpen()
	if open == nil {
		return nil, invalid("the first message carries open")
	}
	target, u, err := s.target(open.GetPath(), open.GetUser())
	if err != nil {
		return nil, err
	}
	done := &guestv1.WriteArchiveResponse{}
	err = as(u, func() error {
		if err := os.MkdirAll(target, defaultDirectoryMode); err != nil {
			return err
		}
		root, err := os.OpenRoot(target)
		if err != nil {
			return err
		}
		defer root.Close()
		stream := &receiveReader{in: in, rest: bytes.Clone(in.Msg().GetData())}
		p := &unpacker{root: root, done: done}
		if err := p.all(tar.NewReader(stream)); err != nil {
			return first(stream.err, err)
		}
		_, err = io.Copy(io.Discard, stream) // what follows the end mark
		return err
	})
	if err != nil {
		return nil, failure(target, err)
	}
	return connect.NewResponse(done), nil
}

type receiveReader struct {
	in   *connect.ClientStream[guestv1.WriteArchiveRequest]
	rest []byte
	err  error // of the stream itself: it explains a broken archive
}

func (r *receiveReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if !r.in.Receive() {
			if r.err = r.in.Err(); r.err != nil {
				return 0, r.err
			}
			return 0, io.EOF
		}
		r.rest = r.in.Msg().GetData()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

type unpacker struct {
	root *os.Root
	done *guestv1.WriteArchiveResponse
	late []lateDirectory
}

type lateDirectory struct {
	name     string
	mode     fs.FileMode
	modified time.Time
}

func (p *unpacker) all(in *tar.Reader) error {
	for {
		h, err := in.Next()
		if err == io.EOF {
			return p.finish()
		}
		if err != nil {
			return broken(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := p.entry(h, in); err != nil {
			return refused(h.Name, err)
		}
	}
}

func (p *unpacker) entry(h *tar.Header, in io.Reader) error {
	name, err := inside(h.Name)
	if err != nil {
		return err
	}
	if name == "." {
		return nil // the directory itself
	}
	if parent := path.Dir(name); parent != "." {
		if err := p.root.MkdirAll(parent, defaultDirectoryMode); err != nil {
			return err
		}
	}
	p.done.Files++
	mode := fileMode(uint32(h.Mode)&0o7777, 0)
	switch h.Typeflag {
	case tar.TypeDir:
		return p.directory(name, mode, h.ModTime)
	case tar.TypeReg, tar.TypeRegA, tar.TypeGNUSparse, tar.TypeCont: //nolint:staticcheck // old archives have RegA
		return p.file(name, mode, h, in)
	case tar.TypeSymlink:
		if err := p.clear(name); err != nil {
			return err
		}
		return p.root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		old, err := inside(h.Linkname)
		if err != nil {
			return err
		}
		if old == name {
			return nil
		}
		if err := p.clear(name); err != nil {
			return err
		}
		return p.root.Link(old, name)
	case tar.TypeFifo:
		return p.fifo(name, mode, h.ModTime)
	}
	return invalid("entries of type %q are not unpacked", h.Typeflag)
}

func (p *unpacker) directory(name string, mode fs.FileMode, modified time.Time) error {
	info, err := p.root.Stat(name)
	if err != nil || !info.IsDir() {
		if err := p.clear(name); err != nil {
			return err
		}
		if err := p.root.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	if len(p.late) == maxLateDirectories {
		return invalid("more than %d directories in one archive", maxLateDirectories)
	}
	p.late = append(p.late, lateDirectory{name, mode, modified})
	return nil
}

func (p *unpacker) file(name string, mode fs.FileMode, h *tar.Header, in io.Reader) error {
	if err := p.clear(name); err != nil {
		return err
	}
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := copySparse(f, in)
	p.done.Bytes += uint64(n)
	if err != nil {
		return err
	}
	if n != h.Size {
		return broken(io.ErrUnexpectedEOF)
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	return p.root.Chtimes(name, h.ModTime, h.ModTime)
}

// fifo makes one through the handle of its directory, as os.Root has no call for it.
func (p *unpacker) fifo(name string, mode fs.FileMode, modified time.Time) error {
	if err := p.clear(name); err != nil {
		return err
	}
	dir, err := p.root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Mknodat(int(dir.Fd()), path.Base(name), unix.S_IFIFO|uint32(mode.Perm()), 0); err != nil {
		return err
	}
	return p.root.Chtimes(name, modified, modified)
}

// clear takes away what an entry replaces, never a directory. A link itself goes, not what it leads to.
func (p *unpacker) clear(name string) error {
	info, err := p.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return unix.EISDIR
	}
	return p.root.Remove(name)
}

func (p *unpacker) finish() error {
	for i := len(p.late) - 1; i >= 0; i-- {
		d := p.late[i]
		if err := p.root.Chmod(d.name, d.mode); err != nil {
			return refused(d.name, err)
		}
		if err := p.root.Chtimes(d.name, d.modified, d.modified); err != nil {
			return refused(d.name, err)
		}
	}
	return nil
}

// inside refuses names that say they are elsewhere; links that lead there are the handle's to refuse.
func inside(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsRune(name, 0) {
		return "", invalid("the name is not relative to the archive")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", invalid(`the name holds ".."`)
		}
	}
	return path.Clean(name), nil
}

func refused(name string, err error) error {
	if err == nil {
		return nil
	}
	var known *connect.Error
	if errors.As(err, &known) {
		return connect.NewError(known.Code(), errors.New(name+": "+known.Message()))
	}
	if strings.Contains(cause(err), "escapes from parent") {
		return invalid("%s: leads out of the directory", name)
	}
	return failure(name, err)
}

func broken(err error) error {
	var known *connect.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return invalid("the archive is broken: %v", err)
}

// copySparse leaves holes where the content is zero.
func copySparse(f *os.File, in io.Reader) (int64, error) {
	buffer := make([]byte, holeBytes)
	empty := make([]byte, holeBytes)
	at, hole := int64(0), false
	for {
		n, err := io.ReadFull(in, buffer)
		if n > 0 {
			if hole = n == holeBytes && bytes.Equal(buffer, empty); !hole {
				if _, err := f.WriteAt(buffer[:n], at); err != nil {
					return at, err
				}
			}
			at += int64(n)
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if hole {
				return at, f.Truncate(at)
			}
			return at, nil
		case err != nil:
			return at, err
		}
	}
}
