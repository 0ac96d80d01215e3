package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"
)

// failure names the path and the cause, with the protocol's code for it.
func failure(path string, err error) error {
	var known *connect.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	code, text := connect.CodeInternal, cause(err)
	for _, c := range causes {
		if errors.Is(err, c.is) {
			code, text = c.code, c.text
			break
		}
	}
	if errors.Is(err, syscall.ENOSPC) {
		text = noSpace(path)
	}
	return connect.NewError(code, fmt.Errorf("%s: %s", path, text))
}

var causes = []struct {
	is   error
	code connect.Code
	text string
}{
	{syscall.ENOTDIR, connect.CodeInvalidArgument, "not a directory"},
	{syscall.EISDIR, connect.CodeInvalidArgument, "is a directory"},
	{syscall.ELOOP, connect.CodeInvalidArgument, "too many symbolic links"},
	{syscall.ENAMETOOLONG, connect.CodeInvalidArgument, "name too long"},
	{syscall.EINVAL, connect.CodeInvalidArgument, "invalid argument"},
	{syscall.EXDEV, connect.CodeInvalidArgument, "on another file system"},
	{syscall.ENOSPC, connect.CodeResourceExhausted, ""}, // noSpace says where
	{syscall.EDQUOT, connect.CodeResourceExhausted, "disk quota exceeded"},
	{syscall.EFBIG, connect.CodeResourceExhausted, "file too large"},
	{syscall.ENOTEMPTY, connect.CodeFailedPrecondition, "directory not empty"},
	{syscall.EBUSY, connect.CodeFailedPrecondition, "in use, as a mount point is"},
	{syscall.EROFS, connect.CodePermissionDenied, "read-only file system"},
	{fs.ErrNotExist, connect.CodeNotFound, "no such file or directory"},
	{fs.ErrPermission, connect.CodePermissionDenied, "permission denied"},
	{fs.ErrExist, connect.CodeAlreadyExists, "exists already"},
}

// noSpace tells a full disk from the memory's share for files.
func noSpace(path string) string {
	var place unix.Statfs_t
	err := unix.Statfs(path, &place)
	for err == unix.ENOENT && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		err = unix.Statfs(path, &place)
	}
	switch {
	case err != nil || !filepath.IsAbs(path):
		return "no space left on device"
	case place.Type == unix.TMPFS_MAGIC:
		return "no space left: files there are in the sandbox's memory, and have three quarters of it at most"
	}
	return "no space left on the sandbox's disk"
}

func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func invalid(format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, args...))
}
