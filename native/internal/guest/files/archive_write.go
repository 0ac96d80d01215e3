package files

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
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
		root, err := openBeneath(target)
		if err != nil {
			return err
		}
		defer root.close()
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
	root *beneath
	done *guestv1.WriteArchiveResponse
	late []lateDirectory
}

type lateDirectory struct {
	name     string
	mode     uint32
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
	p.done.Files++
	mode := uint32(h.Mode) & 0o7777
	switch h.Typeflag {
	case tar.TypeDir:
		if len(p.late) == maxLateDirectories {
			return invalid("more than %d directories in one archive", maxLateDirectories)
		}
		p.late = append(p.late, lateDirectory{name, mode, h.ModTime})
		return p.root.directory(name)
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		err = p.file(name, mode, h, in)
	case tar.TypeSymlink:
		err = p.root.symlink(h.Linkname, name)
	case tar.TypeFifo:
		err = p.root.fifo(name, mode)
	case tar.TypeLink:
		old, err := inside(h.Linkname)
		if err != nil || old == name {
			return err
		}
		return p.root.link(old, name)
	default:
		return invalid("entries of type %q are not unpacked", h.Typeflag)
	}
	if err != nil {
		return err
	}
	return p.root.setTime(name, h.ModTime)
}

func (p *unpacker) file(name string, mode uint32, h *tar.Header, in io.Reader) error {
	f, err := p.root.create(name)
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
	return unix.Fchmod(int(f.Fd()), mode)
}

// finish gives the directories their modes and times, the deepest first.
func (p *unpacker) finish() error {
	for i := len(p.late) - 1; i >= 0; i-- {
		d := p.late[i]
		if err := p.root.setTime(d.name, d.modified); err != nil {
			return refused(d.name, err)
		}
		if err := p.root.setDirectoryMode(d.name, d.mode); err != nil {
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
