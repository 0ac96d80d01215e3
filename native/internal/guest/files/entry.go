package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/guest/users"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	// A listing is one message: this many entries stay below the size that the other side takes.
	maxListEntries = 10_000
	maxListDepth   = 100
)

// ListDirectory gives the entries of a directory, sorted by name, and with a depth above 1 those below, parents first.
func (s *Service) ListDirectory(ctx context.Context, req *connect.Request[guestv1.ListDirectoryRequest]) (*connect.Response[guestv1.ListDirectoryResponse], error) {
	path, u, err := s.target(req.Msg.GetPath(), req.Msg.GetUser())
	if err != nil {
		return nil, err
	}
	list := &listing{ctx: ctx, names: s.users.Names()}
	err = as(u, func() error { return list.add(path, int(min(max(req.Msg.GetDepth(), 1), maxListDepth))) })
	if err != nil {
		return nil, failure(path, err)
	}
	return connect.NewResponse(&guestv1.ListDirectoryResponse{Entries: list.entries}), nil
}

type listing struct {
	ctx     context.Context
	names   *users.Names
	entries []*guestv1.Entry
}

func (l *listing) add(dir string, depth int) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	children, err := readDirectory(dir)
	if err != nil {
		return failure(dir, err)
	}
	for _, child := range children {
		path := filepath.Join(dir, child.Name())
		e, err := lstat(path, l.names)
		if err != nil {
			continue // gone since
		}
		if len(l.entries) == maxListEntries {
			return connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("%s: more than %d entries: list its directories one by one, or take an archive", dir, maxListEntries))
		}
		l.entries = append(l.entries, e)
		if depth > 1 && e.GetType() == guestv1.EntryType_ENTRY_TYPE_DIRECTORY {
			if err := l.add(path, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDirectory refuses what is not a directory without opening it: a FIFO would make the caller wait.
func readDirectory(dir string) ([]fs.DirEntry, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	return os.ReadDir(dir)
}

func lstat(path string, names *users.Names) (*guestv1.Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return describe(path, info, names), nil
}

func describe(path string, info fs.FileInfo, names *users.Names) *guestv1.Entry {
	clean := filepath.Clean(path)
	e := &guestv1.Entry{Path: text(clean), Name: text(filepath.Base(clean)), Size: uint64(info.Size()), ModifiedUnixNanos: info.ModTime().UnixNano()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Mode = stat.Mode & 0o7777
		e.Uid, e.Gid = stat.Uid, stat.Gid
		e.Owner, e.Group = text(names.User(stat.Uid)), text(names.Group(stat.Gid))
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Type = guestv1.EntryType_ENTRY_TYPE_FILE
	case mode.IsDir():
		e.Type = guestv1.EntryType_ENTRY_TYPE_DIRECTORY
	case mode&fs.ModeSymlink != 0:
		e.Type = guestv1.EntryType_ENTRY_TYPE_SYMLINK
		link, _ := os.Readlink(path)
		e.SymlinkTarget = text(link)
	default:
		e.Type = guestv1.EntryType_ENTRY_TYPE_OTHER
	}
	return e
}

// fileMode turns permission bits, setuid, setgid and sticky into Go's form. 0 is the default.
func fileMode(bits uint32, otherwise fs.FileMode) fs.FileMode {
	if bits == 0 {
		return otherwise
	}
	mode := fs.FileMode(bits & 0o777)
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if bits&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// text makes a name fit for a message: one with bytes that are no UTF-8 would void the whole reply.
func text(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }
