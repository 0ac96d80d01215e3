package session

import (
	"slices"
	"sync"
)

// So many clients' counts are kept: whoever gave input longest ago is forgotten first.
const maxClients = 256

// clients counts for each client of a session how much of its input the process has: a client whose connection was cut
// sends again what it does not know to have arrived, and nothing of it is typed twice. It outlives a supervised process.
type clients struct {
	mu     sync.Mutex
	counts []count // who gave input last stands last
}

type count struct {
	client string
	taken  uint64
}

func (c *clients) taken(client string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.counts {
		if known.client == client {
			return known.taken
		}
	}
	return 0
}

func (c *clients) add(client string, n uint64) {
	if client == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := count{client: client}
	if at := slices.IndexFunc(c.counts, func(k count) bool { return k.client == client }); at >= 0 {
		known = c.counts[at]
		c.counts = slices.Delete(c.counts, at, at+1)
	} else if len(c.counts) == maxClients {
		c.counts = slices.Delete(c.counts, 0, 1)
	}
	known.taken += n
	c.counts = append(c.counts, known)
}
