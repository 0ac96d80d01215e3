package session

import (
	"sync"
	"time"

	"torpor.dev/torpor/native/internal/guest/clock"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	defaultJournalBytes = 1 << 20
	minJournalBytes     = 4 << 10
	maxJournalBytes     = 64 << 20
	maxFrameBytes       = 64 << 10
	// What a frame costs beyond its data: without it a program that writes single bytes would hold many times its ring.
	frameOverheadBytes = 64
	// How much one step of a reader takes at most.
	maxBatchBytes = 256 << 10
	holdGrace     = 30 * time.Second
)

type frame struct {
	seq    uint64
	stream guestv1.Stream
	data   []byte
}

// journal is a session's output: frames numbered from 1 on in a ring bounded by bytes, and the end.
//
// A frame may grow until somebody has seen it or its number: a thousand short writes with no reader become one frame.
type journal struct {
	mu      sync.Mutex
	changed *sync.Cond
	clock   *clock.Clock
	limit   int

	frames  []frame
	bytes   int
	last    uint64 // newest frame
	sealed  uint64 // newest frame that somebody has seen
	closing bool   // the process has ended: nothing waits any more
	end     *guestv1.End

	holders map[*reader]struct{}
	ghost   *ghost
}

// ghost stands for a holding reader that broke off, until it comes back or the grace is over.
type ghost struct {
	position uint64
	timer    *clock.Timer
}

func newJournal(c *clock.Clock, limit uint64, hold bool) *journal {
	j := &journal{clock: c, limit: defaultJournalBytes, holders: map[*reader]struct{}{}}
	if limit > 0 {
		j.limit = int(min(max(limit, minJournalBytes), maxJournalBytes))
	}
	j.changed = sync.NewCond(&j.mu)
	if hold {
		j.haunt(0)
	}
	return j
}

// append adds output. It waits while the ring is full of what a holding reader has not had yet.
func (j *journal) append(stream guestv1.Stream, data []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(data) > 0 {
		part := data[:min(len(data), maxFrameBytes)]
		data = data[len(part):]
		j.room(len(part))
		j.add(stream, part)
	}
	j.changed.Broadcast()
}

// room makes space by dropping old frames, or waits for it. After the end of the process the ring may overflow, by no more
// than what was left in its pipes.
func (j *journal) room(want int) {
	for len(j.frames) > 0 && j.bytes+want+frameOverheadBytes > j.limit {
		oldest := j.frames[0]
		if oldest.seq > j.wanted() {
			if j.closing {
				return
			}
			j.changed.Broadcast()
			j.changed.Wait()
			continue
		}
		j.drop()
	}
}

// wanted is the newest frame that may be dropped: all before it were given to every holding reader.
func (j *journal) wanted() uint64 {
	position := j.last
	for h := range j.holders {
		position = min(position, h.position)
	}
	if j.ghost != nil {
		position = min(position, j.ghost.position)
	}
	return position
}

func (j *journal) drop() {
	j.bytes -= len(j.frames[0].data) + frameOverheadBytes
	j.frames[0] = frame{}
	j.frames = j.frames[1:]
}

func (j *journal) add(stream guestv1.Stream, data []byte) {
	if n := len(j.frames); n > 0 {
		if f := &j.frames[n-1]; f.seq > j.sealed && f.stream == stream && len(f.data)+len(data) <= maxFrameBytes {
			f.data = append(f.data, data...)
			j.bytes += len(data)
			return
		}
	}
	j.last++
	j.frames = append(j.frames, frame{j.last, stream, append(make([]byte, 0, len(data)), data...)})
	j.bytes += len(data) + frameOverheadBytes
}

// close lets every writer go on: the process has ended.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closing = true
	j.changed.Broadcast()
}

// finish records the end, after which nothing is added.
func (j *journal) finish(end *guestv1.End) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closing, j.end = true, end
	j.changed.Broadcast()
}

// span gives the oldest and the newest frame kept, and the end. What was reported is sealed.
func (j *journal) span() (first, last uint64, end *guestv1.End) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sealed = j.last
	if len(j.frames) > 0 {
		first = j.frames[0].seq
	}
	return first, j.last, j.end
}

func (j *journal) haunt(position uint64) {
	if j.ghost != nil {
		j.ghost.timer.Stop()
		position = min(position, j.ghost.position)
	}
	g := &ghost{position: position}
	j.ghost = g
	g.timer = j.clock.After(holdGrace, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.ghost == g {
			j.ghost = nil
			j.changed.Broadcast()
		}
	})
}

// forgive ends the wait for a reader that broke off.
func (j *journal) forgive() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ghost != nil {
		j.ghost.timer.Stop()
		j.ghost = nil
	}
}

// restartGrace gives a reader that broke off its full time again.
func (j *journal) restartGrace() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ghost != nil {
		j.haunt(j.ghost.position)
	}
}

func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}
