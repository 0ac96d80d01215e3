// Package clock measures running time: the time in which the sandbox was not frozen. A restore moves the monotonic clock
// on by the time away, so an ordinary timer fires at once after it.
package clock

import (
	"sync"
	"time"
)

const (
	// The longest nap. What a nap takes longer than planned is time away, so this and the slack bound what a freeze can
	// eat of a deadline.
	tick = time.Second
	// What a busy machine may add to a nap that still counts as running.
	slack = 500 * time.Millisecond
)

// Clock costs nothing while no timer is set: its goroutine ends with the last one.
type Clock struct {
	mu      sync.Mutex
	timers  map[*Timer]struct{}
	running bool
	last    time.Time     // when the timers were last brought up to date
	planned time.Duration // the nap since then
	wake    chan struct{}
	now     func() time.Time
}

// Timer is one deadline in running time.
type Timer struct {
	clock *Clock
	left  time.Duration
	fire  func()
}

// New makes a clock.
func New() *Clock {
	return &Clock{timers: map[*Timer]struct{}{}, wake: make(chan struct{}, 1), now: time.Now}
}

// After calls `fire` on its own goroutine when `d` of running time have passed.
func (c *Clock) After(d time.Duration, fire func()) *Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &Timer{clock: c, left: d, fire: fire}
	c.timers[t] = struct{}{}
	if !c.running {
		c.running, c.last, c.planned = true, c.now(), 0
		go c.run()
	} else {
		t.left += c.passed(c.now())
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	return t
}

// Stop reports whether it came before the timer fired. A nil timer is one that never was set.
func (t *Timer) Stop() bool {
	if t == nil {
		return false
	}
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, live := t.clock.timers[t]
	delete(t.clock.timers, t)
	if len(t.clock.timers) == 0 {
		select {
		case t.clock.wake <- struct{}{}:
		default:
		}
	}
	return live
}

// passed is the running time since the timers were last brought up to date.
func (c *Clock) passed(now time.Time) time.Duration {
	return min(now.Sub(c.last), c.planned+slack)
}

func (c *Clock) run() {
	for {
		nap := c.advance()
		if nap == 0 {
			return
		}
		timer := time.NewTimer(nap)
		select {
		case <-timer.C:
		case <-c.wake:
			timer.Stop()
		}
	}
}

// advance fires what is due and returns the time to the next look, 0 when no timer is left.
func (c *Clock) advance() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	passed := c.passed(now)
	c.last, c.planned = now, tick
	for t := range c.timers {
		if t.left -= passed; t.left <= 0 {
			delete(c.timers, t)
			go t.fire()
		} else {
			c.planned = min(c.planned, t.left)
		}
	}
	if len(c.timers) == 0 {
		c.running = false
		return 0
	}
	return c.planned
}
