package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// Watch tells what happens to a file or in a directory, by inotify: nothing is looked at in between.
func (s *Service) Watch(ctx context.Context, req *connect.Request[guestv1.WatchRequest], out *connect.ServerStream[guestv1.WatchResponse]) error {
	path, _, err := s.target(req.Msg.GetPath(), "")
	if err != nil {
		return err
	}
	w, err := newWatcher(strings.TrimSuffix(path, "/"), req.Msg.GetRecursive())
	if err != nil {
		return watchFailure(path, err)
	}
	// A read that waits ends with it.
	defer context.AfterFunc(ctx, w.close)()
	defer w.close()
	if err := out.Send(&guestv1.WatchResponse{}); err != nil {
		return err
	}
	return w.pump(ctx, path, out)
}

func (w *watcher) pump(ctx context.Context, path string, out *connect.ServerStream[guestv1.WatchResponse]) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.read(buffer)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return watchFailure(path, err)
		}
		changes, err := w.changes(buffer[:n])
		if len(changes) > 0 {
			if sendErr := out.Send(&guestv1.WatchResponse{Changes: changes}); sendErr != nil {
				return sendErr
			}
		}
		if err != nil {
			return watchFailure(path, err)
		}
	}
}

func watchFailure(path string, err error) error {
	switch {
	case errors.Is(err, errTooMany):
		return invalid("%s has more than %d directories: watch some of them", path, maxWatches)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EMFILE):
		return connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("%s: the sandbox watches as much as it can", path))
	default:
		return failure(path, &os.PathError{Op: "watch", Path: path, Err: err})
	}
}
