package session

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"torpor.dev/torpor/native/internal/guest/clock"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const stdout = guestv1.Stream_STREAM_STDOUT

func drained(t *testing.T, r *reader) (data []byte) {
	t.Helper()
	for {
		frames, end, err := r.next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if end != nil {
			return data
		}
		for _, f := range frames {
			if len(f.data) > maxFrameBytes {
				t.Errorf("frame %d has %d bytes", f.seq, len(f.data))
			}
			data = append(data, f.data...)
			r.sent(f.seq)
		}
	}
}

func TestJoinsShortWritesUntilTheyAreSeen(t *testing.T) {
	j := newJournal(clock.New(), 0, false)
	for i := range 100 {
		j.append(stdout, []byte{byte(i)})
	}
	if _, last, _ := j.span(); last != 1 {
		t.Errorf("%d frames", last)
	}
	j.append(stdout, []byte("x"))
	if _, last, _ := j.span(); last != 2 {
		t.Error("a frame grew after its number was told")
	}
	j.append(guestv1.Stream_STREAM_STDERR, []byte("x"))
	j.append(stdout, []byte("x"))
	if _, last, _ := j.span(); last != 4 {
		t.Error("streams were mixed")
	}
}

func TestBoundsTheRing(t *testing.T) {
	j := newJournal(clock.New(), 10_000, false)
	for i := range 1000 {
		j.append(stdout, bytes.Repeat([]byte("x"), 100))
		j.span()
		if j.bytes > 10_000 {
			t.Fatalf("%d bytes after %d", j.bytes, i)
		}
	}
}

func TestHoldsForTheSlowestReaderOnly(t *testing.T) {
	j := newJournal(clock.New(), minJournalBytes, false)
	r, err := j.attach(context.Background(), 0, true, "")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	go func() {
		for line := range bytes.Lines(want.Bytes()) {
			j.append(stdout, line)
		}
		j.finish(&guestv1.End{})
	}()
	if got := drained(t, r); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d bytes of %d", len(got), want.Len())
	}
}

// A holding reader that broke off is waited for, and a restore gives it its time again.
func TestWaitsForAReaderThatBrokeOff(t *testing.T) {
	j := newJournal(clock.New(), minJournalBytes, false)
	r, _ := j.attach(context.Background(), 0, true, "")
	r.close()
	written := make(chan struct{})
	go func() {
		j.append(stdout, bytes.Repeat([]byte("x"), 3*minJournalBytes/4))
		j.append(stdout, bytes.Repeat([]byte("y"), 3*minJournalBytes/4))
		close(written)
	}()
	j.restartGrace()
	select {
	case <-written:
		t.Fatal("did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	again, err := j.attach(context.Background(), 0, true, "")
	if err != nil {
		t.Fatal(err)
	}
	frames, _, _ := again.next(context.Background())
	again.sent(frames[len(frames)-1].seq)
	<-written
	again.close()
	j.forgive()
	j.append(stdout, bytes.Repeat([]byte("z"), 2*minJournalBytes)) // nobody is left to wait for
}

// Y03: whoever comes back over another network does not wait for their own dead connection.
func TestY03WaitsForTheNewestReaderOfAClientOnly(t *testing.T) {
	j := newJournal(clock.New(), minJournalBytes, false)
	dead, _ := j.attach(context.Background(), 0, true, "me")
	other, _ := j.attach(context.Background(), 0, true, "other")
	again, err := j.attach(context.Background(), 0, true, "me")
	if err != nil {
		t.Fatal(err)
	}
	// That it ends at last is no news.
	dead.close()
	written := make(chan struct{})
	go func() {
		j.append(stdout, bytes.Repeat([]byte("x"), 3*minJournalBytes/4))
		j.append(stdout, bytes.Repeat([]byte("y"), 3*minJournalBytes/4))
		close(written)
	}()
	for _, r := range []*reader{again, other} {
		select {
		case <-written:
			t.Fatal("did not wait for both that are there")
		default:
		}
		frames, _, _ := r.next(context.Background())
		r.sent(frames[len(frames)-1].seq)
	}
	<-written
}

func TestEndsAReaderWithItsContext(t *testing.T) {
	j := newJournal(clock.New(), 0, false)
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := j.attach(ctx, 0, false, "")
	defer r.close()
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, _, err := r.next(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := j.attach(context.Background(), 5, false, ""); err == nil {
		t.Error("attached after a frame that is not there")
	}
}
