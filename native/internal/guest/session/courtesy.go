package session

import (
	"sync"
	"time"
)

const (
	// So long after a key somebody counts as typing.
	typingWindow = time.Second
	// What a terminal gives at a time, and how long it rests after it, while somebody types into another: 4 MB/s at most, more
	// than anybody reads. On 2 CPUs beside a flood, keys were echoed after 5 ms (p50) and 25 ms (p99); now after 1.5 and 4, as alone.
	courtesyBytes = 16 << 10
	courtesyRest  = 4 * time.Millisecond
)

// courtesy has terminals that flood make room for who types into another: a key and its echo need the processors a dozen times
// on their way, for moments, and a flood takes them for as long as it is let. Output through pipes rests for nobody, since
// whoever moves data waits for it.
type courtesy struct {
	now  func() time.Time
	rest func()

	mu sync.Mutex
	// Of the two terminals that were typed into last: whoever asks is one of them at most.
	latest, other keystroke
}

type keystroke struct {
	into *input
	at   time.Time
}

func newCourtesy() *courtesy {
	return &courtesy{now: time.Now, rest: func() { time.Sleep(courtesyRest) }}
}

// typed notes that somebody types into a terminal.
func (c *courtesy) typed(into *input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest.into != into {
		c.other = c.latest
	}
	c.latest = keystroke{into, c.now()}
}

// isDue says whether somebody types into another terminal.
func (c *courtesy) isDue(own *input) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	stroke := c.latest
	if stroke.into == own {
		stroke = c.other
	}
	return stroke.into != nil && c.now().Sub(stroke.at) < typingWindow
}
