// Package files does the protocol's Files: the sandbox's files as its root sees them, acting as a user.
package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/guest/users"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/protocol/torpor/guest/v1/guestv1connect"
)

const defaultDirectoryMode = 0o755

// Service is the handler.
type Service struct {
	guestv1connect.UnimplementedFilesHandler
	users   users.Database
	workdir func() string
}

// NewService makes a handler that takes relative paths from `workdir`.
func NewService(workdir func() string) *Service {
	return &Service{users: users.System, workdir: workdir}
}

// target is a path made absolute and the user to act as. The path is not cleaned: "a/.." is not "." where a is a link.
func (s *Service) target(path, user string) (string, users.User, error) {
	if path == "" {
		return "", users.User{}, invalid("the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", users.User{}, invalid("the path holds a NUL byte")
	}
	if !filepath.IsAbs(path) {
		dir := s.workdir()
		if dir == "" {
			dir = "/"
		}
		path = strings.TrimSuffix(dir, "/") + "/" + path
	}
	u, err := s.users.Lookup(user)
	if err != nil {
		return "", users.User{}, invalid("%v", err)
	}
	return path, u, nil
}

// entry does the work as the user, then answers with what is at the path now.
func (s *Service) entry(path, user string, do func(path string) error) (*connect.Response[guestv1.Entry], error) {
	path, u, err := s.target(path, user)
	if err != nil {
		return nil, err
	}
	var found *guestv1.Entry
	err = as(u, func() error {
		if err := do(path); err != nil {
			return err
		}
		found, err = lstat(path, s.users.Names())
		return err
	})
	if err != nil {
		return nil, failure(path, err)
	}
	return connect.NewResponse(found), nil
}

// Stat describes a path; of a link the link itself unless `follow` is set.
func (s *Service) Stat(_ context.Context, req *connect.Request[guestv1.StatRequest]) (*connect.Response[guestv1.Entry], error) {
	path, u, err := s.target(req.Msg.GetPath(), req.Msg.GetUser())
	if err != nil {
		return nil, err
	}
	var found *guestv1.Entry
	err = as(u, func() (err error) {
		if !req.Msg.GetFollow() {
			found, err = lstat(path, s.users.Names())
			return err
		}
		info, err := os.Stat(path)
		if err == nil {
			found = describe(path, info, s.users.Names())
		}
		return err
	})
	if err != nil {
		return nil, failure(path, err)
	}
	return connect.NewResponse(found), nil
}

// MakeDirectory makes one directory, or all that are missing.
func (s *Service) MakeDirectory(_ context.Context, req *connect.Request[guestv1.MakeDirectoryRequest]) (*connect.Response[guestv1.Entry], error) {
	mode := fileMode(req.Msg.GetMode(), defaultDirectoryMode)
	return s.entry(req.Msg.GetPath(), req.Msg.GetUser(), func(path string) error {
		if req.Msg.GetParents() {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				return nil
			}
			if err := os.MkdirAll(filepath.Dir(strings.TrimRight(path, "/")), defaultDirectoryMode); err != nil {
				return err
			}
		}
		if err := os.Mkdir(path, mode); err != nil {
			return err
		}
		return os.Chmod(path, mode) // past the umask
	})
}

// Move renames.
func (s *Service) Move(_ context.Context, req *connect.Request[guestv1.MoveRequest]) (*connect.Response[guestv1.Entry], error) {
	from, _, err := s.target(req.Msg.GetFrom(), "")
	if err != nil {
		return nil, err
	}
	return s.entry(req.Msg.GetTo(), req.Msg.GetUser(), func(to string) error {
		if _, err := os.Lstat(from); err != nil {
			return failure(from, err)
		}
		// Not os.Rename, which refuses to replace an empty directory.
		err := syscall.Rename(from, to)
		if errors.Is(err, syscall.EXDEV) {
			return moveAcross(from, to)
		}
		if errors.Is(err, syscall.EEXIST) {
			return syscall.ENOTEMPTY
		}
		return err
	})
}

// Remove deletes a file or an empty directory, or with `recursive` all below it.
func (s *Service) Remove(_ context.Context, req *connect.Request[guestv1.RemoveFileRequest]) (*connect.Response[guestv1.RemoveFileResponse], error) {
	path, u, err := s.target(req.Msg.GetPath(), req.Msg.GetUser())
	if err != nil {
		return nil, err
	}
	if filepath.Clean(path) == "/" {
		return nil, invalid("the root directory cannot be removed")
	}
	err = as(u, func() error {
		if _, err := os.Lstat(path); err != nil {
			return err
		}
		if req.Msg.GetRecursive() {
			return os.RemoveAll(path)
		}
		return os.Remove(path)
	})
	if err != nil {
		return nil, failure(path, err)
	}
	return connect.NewResponse(&guestv1.RemoveFileResponse{}), nil
}
