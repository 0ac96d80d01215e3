package files

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const chunkBytes = 256 << 10

// Read streams a regular file from an offset on. Rights are checked when it is opened, so only that acts as the user.
func (s *Service) Read(ctx context.Context, req *connect.Request[guestv1.ReadRequest], out *connect.ServerStream[guestv1.ReadResponse]) error {
	path, u, err := s.target(req.Msg.GetPath(), req.Msg.GetUser())
	if err != nil {
		return err
	}
	var file *os.File
	if err := as(u, func() (err error) { file, err = openRegular(path, 0); return err }); err != nil {
		return failure(path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return failure(path, err)
	}
	if offset := int64(min(req.Msg.GetOffset(), 1<<62)); offset > 0 {
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			return failure(path, err)
		}
	}
	left := int64(1 << 62)
	if n := req.Msg.GetLength(); n > 0 && n < 1<<62 {
		left = int64(n)
	}
	message := &guestv1.ReadResponse{Entry: describe(path, info, s.users.Names())}
	buffer := make([]byte, min(int64(chunkBytes), max(info.Size(), 4096), left))
	for ctx.Err() == nil {
		n, err := io.ReadFull(file, buffer[:min(int64(len(buffer)), left)])
		left -= int64(n)
		over := left == 0 || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !over {
			return failure(path, err)
		}
		message.Data = buffer[:n]
		if n > 0 || message.Entry != nil {
			if err := out.Send(message); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		message = &guestv1.ReadResponse{}
	}
	return ctx.Err()
}

// openRegular opens without waiting, as a FIFO would make it, and refuses what is not a regular file.
func openRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|flags, 0)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) { // a socket
			return nil, invalid("%s: not a regular file", path)
		}
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = syscall.EISDIR
	case !info.Mode().IsRegular():
		err = invalid("%s: not a regular file", path)
	default:
		return file, nil
	}
	file.Close()
	return nil, err
}
