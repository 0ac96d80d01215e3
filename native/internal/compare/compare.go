// Package compare tells how the files of two sandboxes differ, from copies of their disks.
package compare

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Request names two trees, and a directory on the disks' file system for what is made meanwhile.
type Request struct {
	Before  Tree   `json:"before"`
	After   Tree   `json:"after"`
	Scratch string `json:"scratch"`
}

// Ending is the last line of an answer.
type Ending struct {
	End     bool   `json:"end"`
	Failure string `json:"failure,omitempty"`
	// A disk is not there, or not any more.
	Missing string `json:"missing,omitempty"`
}

// Run writes a line for each difference, and an ending.
func Run(request Request, to io.Writer) error {
	out := bufio.NewWriterSize(to, 64<<10)
	lines := json.NewEncoder(out)
	ending := Ending{End: true}
	if err := request.compare(func(d Difference) error { return lines.Encode(d) }); err != nil {
		ending.Failure = err.Error()
		var missing *missingError
		if errors.As(err, &missing) {
			ending.Missing = missing.disk
		}
	}
	return errors.Join(lines.Encode(ending), out.Flush())
}

func (r Request) compare(tell func(Difference) error) error {
	trees := []Tree{r.Before, r.After}
	disks := make([]*os.File, len(trees))
	// First all copies, one right after the other: that is the instant the answer speaks of.
	for i, tree := range trees {
		if tree.Disk == "" {
			continue
		}
		disk, err := clone(tree.Disk, r.Scratch)
		if errors.Is(err, fs.ErrNotExist) {
			err = &missingError{tree.Disk}
		}
		if err != nil {
			return err
		}
		defer disk.Close()
		disks[i] = disk
	}
	// Mount points that only this process sees.
	if err := unix.Mount("tmpfs", r.Scratch, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID|unix.MS_NOEXEC, "mode=700,size=1m"); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(r.Scratch, unix.MNT_DETACH) }()
	levels := make([]*level, len(trees))
	for i, tree := range trees {
		dir := filepath.Join(r.Scratch, []string{"before", "after"}[i])
		m, err := tree.mount(dir, disks[i])
		// In this order: what is open keeps a mount.
		defer unmount(dir)
		if err != nil {
			return err
		}
		defer m.close()
		levels[i] = &level{root: m.root, upper: m.upper}
	}
	before, after, err := lookAtRoots(levels)
	if err != nil {
		return err
	}
	w := walk{tell}
	if err := w.file("/", before, after); err != nil {
		return err
	}
	return w.directory(place{path: "/", a: levels[0], b: levels[1], shared: r.Before.Image == r.After.Image})
}

func lookAtRoots(levels []*level) (before, after *file, err error) {
	if before, err = levels[0].look("."); err != nil {
		return nil, nil, err
	}
	after, err = levels[1].look(".")
	return before, after, err
}

type missingError struct{ disk string }

func (e *missingError) Error() string { return "disk " + e.disk + " is not there" }
