package compare

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// Difference is a line of the answer.
type Difference struct {
	Change string   `json:"change"` // added, changed, removed, unread
	Path   []byte   `json:"path"`   // any bytes but NUL
	What   []string `json:"what,omitempty"`
	Before *Facts   `json:"before,omitempty"`
	After  *Facts   `json:"after,omitempty"`
	Reason string   `json:"reason,omitempty"` // why it was not read
}

// More than these only somebody makes who wants to do harm: descriptors and memory of the host are spared.
const (
	maxDepth = 1000
	maxNames = 1_000_000
)

// walk compares the trees a and b, and tells of each name that differs, a directory before what is in it.
type walk struct {
	tell func(Difference) error
}

// place is a directory in both trees; nil: it is in the other alone.
type place struct {
	path  string
	depth int
	a, b  *level
	// Below it both trees have the same directory of the same image, so that only what is on a disk can differ.
	shared bool
}

// level is a directory in one tree.
type level struct {
	root  *os.File
	upper *os.File // its part on the disk; nil: it has none
}

func (w walk) directory(p place) error {
	names, err := p.names()
	if errors.Is(err, errTooMany) {
		return w.unread(p.path, fmt.Sprintf("it has more than %d names", maxNames))
	}
	if err != nil {
		return fmt.Errorf("read directory %q: %w", p.path, err)
	}
	for _, name := range names {
		if err := w.name(p, name); err != nil {
			return err
		}
	}
	return nil
}

func (w walk) name(p place, name string) error {
	full := path.Join(p.path, name)
	a, err := p.a.look(name)
	if err != nil {
		return err
	}
	b, err := p.b.look(name)
	if err != nil {
		return err
	}
	if err := w.file(full, a, b); err != nil {
		return err
	}
	switch {
	case a.isDirectory() && b.isDirectory():
		return w.below(p, name, p.a, p.b)
	case a.isDirectory() || b.isDirectory():
		// Of a directory that became something else, or the other way, the two halves are apart.
		if err := w.half(p, name, a, b); err != nil {
			return err
		}
	}
	return nil
}

func (w walk) half(p place, name string, a, b *file) error {
	if a.isDirectory() {
		return w.below(p, name, p.a, nil)
	}
	return w.below(p, name, nil, p.b)
}

func (w walk) file(full string, a, b *file) error {
	d := Difference{Path: []byte(full)}
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		d.Change, d.After = "added", &b.facts
	case b == nil:
		d.Change, d.Before = "removed", &a.facts
	default:
		what, err := differences(a, b)
		if err != nil {
			return fmt.Errorf("compare %q: %w", full, err)
		}
		if len(what) == 0 {
			return nil
		}
		d.Change, d.What, d.Before, d.After = "changed", what, &a.facts, &b.facts
	}
	return w.tell(d)
}

// below goes on into a directory that a has, b has, or both.
func (w walk) below(p place, name string, a, b *level) error {
	full := path.Join(p.path, name)
	if p.depth >= maxDepth {
		return w.unread(full, fmt.Sprintf("it lies more than %d directories deep", maxDepth))
	}
	next := place{path: full, depth: p.depth + 1, shared: p.shared && a != nil && b != nil}
	var err error
	if next.a, err = a.enter(name); err == nil {
		defer next.a.close()
		next.b, err = b.enter(name)
	}
	if err != nil {
		return fmt.Errorf("open directory %q: %w", full, err)
	}
	defer next.b.close()
	next.shared = next.shared && next.a.isPlain() && next.b.isPlain()
	return w.directory(next)
}

func (w walk) unread(full, reason string) error {
	return w.tell(Difference{Change: "unread", Path: []byte(full), Reason: reason})
}

var errTooMany = errors.New("too many names")

// names are those that can differ, sorted.
func (p place) names() ([]string, error) {
	found := map[string]struct{}{}
	for _, l := range []*level{p.a, p.b} {
		if l == nil {
			continue
		}
		directory := l.root
		if p.shared {
			directory = l.upper
		}
		if err := gather(directory, found); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func gather(directory *os.File, found map[string]struct{}) error {
	if directory == nil {
		return nil
	}
	for {
		names, err := directory.Readdirnames(4096)
		for _, name := range names {
			found[name] = struct{}{}
		}
		if len(found) > maxNames {
			return errTooMany
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *level) look(name string) (*file, error) {
	if l == nil {
		return nil, nil
	}
	return look(l.root, name)
}

func (l *level) enter(name string) (*level, error) {
	if l == nil {
		return nil, nil
	}
	root, err := openDirectory(int(l.root.Fd()), name)
	if err != nil {
		return nil, err
	}
	if l.upper == nil {
		return &level{root: root}, nil
	}
	upper, err := openDirectory(int(l.upper.Fd()), name)
	if errors.Is(err, unix.ENOENT) { // it is the image's
		return &level{root: root}, nil
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &level{root: root, upper: upper}, nil
}

func (l *level) close() {
	if l == nil {
		return
	}
	_ = l.root.Close()
	if l.upper != nil {
		_ = l.upper.Close()
	}
}

// isPlain says whether the directory is laid over the image's of the same path. An opaque one hides it, a renamed one has another below.
func (l *level) isPlain() bool {
	if l.upper == nil {
		return true
	}
	for _, name := range []string{"trusted.overlay.opaque", "trusted.overlay.redirect"} {
		if _, err := unix.Fgetxattr(int(l.upper.Fd()), name, nil); !errors.Is(err, unix.ENODATA) {
			return false
		}
	}
	return true
}
