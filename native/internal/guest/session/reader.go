package session

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// reader is one Attach.
type reader struct {
	journal   *journal
	position  uint64 // newest frame that was given away
	hold      bool
	client    string // who comes back under the same name takes its place
	done      bool   // had the end
	impatient bool   // next answers without anything once the time is over
	stop      func() bool
}

// attach gives a reader of every frame after `after`, that ends with `ctx` or close.
func (j *journal) attach(ctx context.Context, after uint64, hold bool, client string) (*reader, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.check(after); err != nil {
		return nil, err
	}
	r := &reader{journal: j, position: after, hold: hold, client: client}
	r.stop = context.AfterFunc(ctx, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.changed.Broadcast()
	})
	if hold {
		j.succeed(client)
		j.holders[r] = struct{}{}
		if j.ghost != nil {
			j.ghost.timer.Stop()
			j.ghost = nil
		}
	}
	return r, nil
}

// succeed ends the wait for an earlier reader of the same client, whose connection may be dead without anybody knowing.
func (j *journal) succeed(client string) {
	for earlier := range j.holders {
		if client != "" && earlier.client == client {
			delete(j.holders, earlier)
			j.changed.Broadcast()
		}
	}
}

// check refuses a position whose next frame is gone or will never come.
func (j *journal) check(after uint64) error {
	oldest := j.last + 1
	if len(j.frames) > 0 {
		oldest = j.frames[0].seq
	}
	if after+1 < oldest {
		return connect.NewError(connect.CodeOutOfRange, fmt.Errorf("output after %d is no longer kept: the oldest frame is %d", after, oldest))
	}
	if after > j.last {
		return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("there is no frame %d: the newest is %d", after, j.last))
	}
	return nil
}

// waitAtMost makes the next call of next return with nothing after a time.
func (r *reader) waitAtMost(d time.Duration) (stop func()) {
	timer := time.AfterFunc(d, func() {
		r.journal.mu.Lock()
		defer r.journal.mu.Unlock()
		r.impatient = true
		r.journal.changed.Broadcast()
	})
	return func() { timer.Stop() }
}

// next waits for frames. Without frames, the end.
func (r *reader) next(ctx context.Context) ([]frame, *guestv1.End, error) {
	j := r.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := j.check(r.position); err != nil {
			return nil, nil, err
		}
		if r.position < j.last {
			return r.batch(), nil, nil
		}
		if j.end != nil {
			r.done = true
			return nil, j.end, nil
		}
		if r.impatient {
			r.impatient = false
			return nil, nil, nil
		}
		j.changed.Wait()
	}
}

func (r *reader) batch() []frame {
	j := r.journal
	at := int(r.position + 1 - j.frames[0].seq)
	size, n := 0, 0
	for _, f := range j.frames[at:] {
		if size += len(f.data); n > 0 && size > maxBatchBytes {
			break
		}
		n++
	}
	out := append([]frame(nil), j.frames[at:at+n]...)
	j.sealed = max(j.sealed, out[n-1].seq)
	return out
}

// sent says that everything up to `seq` was given away.
func (r *reader) sent(seq uint64) {
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	r.position = seq
	if r.hold {
		r.journal.changed.Broadcast()
	}
}

func (r *reader) close() {
	r.stop()
	j := r.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, held := j.holders[r]; held {
		delete(j.holders, r)
		if !r.done && j.end == nil {
			j.haunt(r.position)
		}
		j.changed.Broadcast()
	}
}
