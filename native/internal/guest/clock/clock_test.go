package clock

import (
	"testing"
	"time"
)

// A clock by hand: advance is called as its goroutine would after a nap.
type hand struct {
	clock *Clock
	now   time.Time
}

func newHand() *hand {
	h := &hand{clock: New(), now: time.Unix(1000, 0)}
	h.clock.now = func() time.Time { return h.now }
	h.clock.running, h.clock.last = true, h.now // no goroutine of its own
	return h
}

func (h *hand) pass(d time.Duration) { h.now = h.now.Add(d); h.clock.advance() }

func TestCountsRunningTime(t *testing.T) {
	h := newHand()
	fired := make(chan struct{})
	h.clock.After(3*time.Second, func() { close(fired) })
	h.clock.advance()
	for range 2 {
		h.pass(time.Second)
	}
	select {
	case <-fired:
		t.Fatal("fired early")
	default:
	}
	h.pass(time.Second)
	<-fired
}

func TestDoesNotCountTimeAway(t *testing.T) {
	h := newHand()
	fired := false
	timer := h.clock.After(10*time.Second, func() { fired = true })
	h.clock.advance()
	h.pass(2 * time.Hour)
	if fired || timer.left < 8*time.Second {
		t.Fatalf("fired %v, left %v", fired, timer.left)
	}
	if !timer.Stop() || timer.Stop() {
		t.Error("stopped once, not twice")
	}
}

func TestGivesANewTimerItsFullTime(t *testing.T) {
	h := newHand()
	h.clock.After(time.Hour, func() {})
	h.clock.advance()
	h.now = h.now.Add(900 * time.Millisecond)
	timer := h.clock.After(time.Second, func() {})
	h.pass(100 * time.Millisecond)
	if timer.left != 900*time.Millisecond {
		t.Errorf("left %v", timer.left)
	}
}

func TestFiresForReal(t *testing.T) {
	c := New()
	start, fired := time.Now(), make(chan struct{})
	c.After(30*time.Millisecond, func() { close(fired) })
	<-fired
	if d := time.Since(start); d < 30*time.Millisecond {
		t.Errorf("after %v", d)
	}
}
