package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"connectrpc.com/connect"
)

// input is what a session reads. Its offset counts the bytes that were given to the process.
type input struct {
	turn     chan struct{} // one writer at a time
	file     *os.File      // nil: /dev/null
	terminal bool
	offset   atomic.Uint64
	eof      bool // guarded by turn
}

func newInput(file *os.File, terminal bool) *input {
	return &input{turn: make(chan struct{}, 1), file: file, terminal: terminal}
}

func (in *input) taken() uint64 { return in.offset.Load() }

// Write gives bytes of a client to the process and answers when it has them. Bytes that it already had are dropped.
func (s *Session) Write(ctx context.Context, client string, offset uint64, data []byte, eof bool) (uint64, error) {
	in := s.input
	if len(client) > maxIDBytes {
		return 0, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("a client's id has at most %d bytes", maxIDBytes))
	}
	if client != "" && len(data) == 0 && !eof {
		return s.clients.taken(client), nil
	}
	if in.file == nil {
		return 0, connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("session %s was started without input", s.id))
	}
	select {
	case in.turn <- struct{}{}:
	case <-ctx.Done():
		return s.taken(client), ctx.Err()
	}
	defer func() { <-in.turn }()
	taken := s.taken(client)
	if offset > taken {
		return taken, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("input of session %s has a gap: %d bytes were taken, these begin at %d", s.id, taken, offset))
	}
	if known := taken - offset; known < uint64(len(data)) {
		if in.eof {
			return taken, connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("input of session %s has ended", s.id))
		}
		if in.terminal {
			s.courtesy.typed(in)
		}
		n, err := in.give(ctx, data[known:])
		in.offset.Add(uint64(n))
		s.clients.add(client, uint64(n))
		if err != nil {
			return s.taken(client), s.inputError(ctx, err)
		}
	}
	if eof && !in.eof {
		in.eof = true
		if in.terminal {
			return s.taken(client), s.inputError(ctx, in.end(ctx))
		}
		in.file.Close()
	}
	return s.taken(client), nil
}

// taken counts what the process has of a client, or of all.
func (s *Session) taken(client string) uint64 {
	if client == "" {
		return s.input.taken()
	}
	return s.clients.taken(client)
}

// end types the end-of-file key: it does what the terminal's mode makes of it, and counts as no input.
func (in *input) end(ctx context.Context) error {
	_, err := in.give(ctx, []byte{endOfTransmission})
	return err
}

func (in *input) give(ctx context.Context, data []byte) (int, error) {
	_ = in.file.SetWriteDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = in.file.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	return in.file.Write(data)
}

// close ends the input with the session. A terminal's file is its stream's to close.
func (in *input) close() {
	if in.file != nil && !in.terminal {
		in.file.Close()
	} else if in.file != nil {
		_ = in.file.SetWriteDeadline(time.Unix(1, 0))
	}
}

func (s *Session) inputError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.EIO):
		return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("session %s has closed its input", s.id))
	case errors.Is(err, os.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
		return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("session %s has ended", s.id))
	}
	return connect.NewError(connect.CodeInternal, fmt.Errorf("input of session %s: %w", s.id, err))
}
