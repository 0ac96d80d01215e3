package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// Whether and when the next process begins is the daemon's to say: here only its journal and its place are kept.

// Await answers when the process of an attempt has ended or another one has begun.
func (t *Table) Await(ctx context.Context, id string, attempt uint32) (*Session, error) {
	s, err := t.Get(id)
	if err != nil {
		return nil, err
	}
	if s.attempt <= attempt {
		select {
		case <-s.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return t.Get(id)
}

// newSession makes what a request asks for: the next process of a supervised session, or something new.
func (t *Table) newSession(req *guestv1.StartRequest) *Session {
	s := &Session{
		id: req.GetSessionId(), argv: req.GetArgv(), terminal: req.GetTerminal() != nil, clock: t.Clock, started: time.Now(),
		input: newInput(nil, false), clients: &clients{}, courtesy: t.courtesy, keep: time.Duration(min(req.GetKeepMs(), 1<<40)) * time.Millisecond,
		supervised: req.GetSupervised(), attempt: max(req.GetAttempt(), 1), size: req.GetTerminal(),
		ready: make(chan struct{}), over: make(chan struct{}),
	}
	if before := t.placeFor(s); before != nil {
		s.journal, s.clients, s.attempt = before.journal, before.clients, max(req.GetAttempt(), before.attempt+1)
		return s
	}
	s.journal = newJournal(t.Clock, req.GetJournalBytes(), req.GetHold())
	s.journal.preload(req.GetAfter(), req.GetJournal())
	return s
}

// placeFor gives the session whose place another one may take.
func (t *Table) placeFor(s *Session) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.sessions[s.id]; before != nil && s.supervised && before.supervised && isClosed(before.over) {
		return before
	}
	return nil
}

// preload has the journal go on from that of a former runtime. Frames that do not belong together are left out.
func (j *journal) preload(after uint64, frames []*guestv1.Output) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last, j.sealed = after, after
	from := len(frames)
	for want := after; from > 0 && want > 0 && frames[from-1].GetSeq() == want; want-- {
		if j.bytes += len(frames[from-1].GetData()) + frameOverheadBytes; j.bytes > j.limit {
			j.bytes -= len(frames[from-1].GetData()) + frameOverheadBytes
			break
		}
		from--
	}
	for _, f := range frames[from:] {
		j.frames = append(j.frames, frame{f.GetSeq(), f.GetStream(), f.GetData()})
	}
}

// mark adds a frame that is no output, and lets writers wait again: the next one is another process.
func (j *journal) mark(data []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closing = true // it waits for nobody
	j.room(len(data))
	j.sealed = j.last
	j.add(guestv1.Stream_STREAM_MARK, data)
	j.sealed = j.last
	j.closing = false
	j.changed.Broadcast()
}

type mark struct {
	Attempt uint32   `json:"attempt"`
	PID     *int     `json:"pid"`
	End     *markEnd `json:"end"`
}

type markEnd struct {
	Reason   string  `json:"reason"`
	ExitCode uint32  `json:"exitCode"`
	Signal   *string `json:"signal"`
	OOM      bool    `json:"oom"`
}

func startMark(attempt uint32, pid int) []byte {
	return encodeMark(mark{Attempt: attempt, PID: &pid})
}

func endMark(attempt uint32, end *guestv1.End) []byte {
	e := &markEnd{Reason: reasonNames[end.GetReason()], ExitCode: end.GetExitCode(), OOM: end.GetOom()}
	if end.GetSignal() != "" {
		e.Signal = &end.Signal
	}
	return encodeMark(mark{Attempt: attempt, End: e})
}

var reasonNames = map[guestv1.EndReason]string{
	guestv1.EndReason_END_REASON_EXITED: "exited", guestv1.EndReason_END_REASON_TIMEOUT: "timeout",
	guestv1.EndReason_END_REASON_OOM: "oom", guestv1.EndReason_END_REASON_KILLED: "killed",
	guestv1.EndReason_END_REASON_STOPPED: "stopped",
}

func encodeMark(m mark) []byte {
	data, err := json.Marshal(m)
	if err != nil { // plain numbers and strings: it can't
		panic(fmt.Sprintf("mark: %v", err))
	}
	return data
}
