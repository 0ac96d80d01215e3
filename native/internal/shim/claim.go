package shim

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Beside its memory a checkpoint holds the engine's own state: 0.2 MB measured.
const stateBytes = 8 << 20

// claim is room on the pool that nobody else can take: a file without a name. It shrinks as what it was claimed for grows.
type claim struct {
	file *os.File
	size int64
}

// claimRoom claims the room for a checkpoint: what others write meanwhile is measured by what it leaves, and they are held in time.
func (r *Runtime) claimRoom() (*claim, error) {
	if r.config.Storage == nil {
		return &claim{}, nil
	}
	bytes, err := r.cgroup.MemoryBytes()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(r.config.Storage.Pool, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return &claim{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim room for a checkpoint: %w", err)
	}
	c := &claim{file: file, size: bytes + stateBytes}
	err = unix.Fallocate(int(file.Fd()), 0, 0, c.size)
	if errors.Is(err, unix.ENOSPC) && r.dropBase() {
		err = unix.Fallocate(int(file.Fd()), 0, 0, c.size)
	}
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		c.give()
		return nil, fmt.Errorf("claim %d bytes for a checkpoint: %w", c.size, err)
	}
	return c, nil
}

// shrink gives back what is written by now.
func (c *claim) shrink(written int64) {
	if c.file != nil {
		_ = c.file.Truncate(max(c.size-written, 0))
	}
}

func (c *claim) give() {
	if c.file != nil {
		_ = c.file.Close()
	}
}
