package files

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// maxWatches bounds the directories of one watch: each holds kernel memory of the sandbox.
const maxWatches = 8192

var errTooMany = errors.New("too many directories")

const watched = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// watcher is one inotify instance and the paths of its watches.
type watcher struct {
	file      *os.File
	root      string
	recursive bool
	paths     map[int]string
	// The first half of a move, whose second has not come.
	moved   *event
	closing sync.Once
}

func newWatcher(path string, recursive bool) (*watcher, error) {
	if path == "" {
		path = "/"
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	w := &watcher{file: os.NewFile(uintptr(fd), "inotify"), root: path, recursive: recursive, paths: map[int]string{}}
	if _, err := w.add(path); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// control uses the descriptor while it is surely the watcher's own: whoever leaves closes it at any time.
func (w *watcher) control(do func(fd int) error) (err error) {
	conn, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	if closed := conn.Control(func(fd uintptr) { err = do(int(fd)) }); closed != nil {
		return closed
	}
	return err
}

func (w *watcher) close() { w.closing.Do(func() { w.file.Close() }) }

// add watches a path and, of a recursive watch, the directories below it; it gives what is below, which may have been made before the watch was.
func (w *watcher) add(path string) (below []*guestv1.Change, err error) {
	if len(w.paths) >= maxWatches {
		return nil, errTooMany
	}
	flags := uint32(watched)
	if path != w.root {
		flags |= unix.IN_DONT_FOLLOW
	}
	var wd int
	if err := w.control(func(fd int) (err error) {
		wd, err = unix.InotifyAddWatch(fd, path, flags)
		return err
	}); err != nil {
		return nil, err
	}
	w.paths[wd] = path
	if !w.recursive {
		return nil, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, nil // a file, or gone by now: its events tell
	}
	for _, entry := range entries {
		inner := filepath.Join(path, entry.Name())
		below = append(below, change(guestv1.ChangeKind_CHANGE_KIND_CREATED, inner, entry.IsDir()))
		if !entry.IsDir() {
			continue
		}
		deeper, err := w.add(inner)
		if errors.Is(err, errTooMany) || errors.Is(err, unix.ENOSPC) {
			return nil, err
		}
		below = append(below, deeper...)
	}
	return below, nil
}

// forget drops the watches of a directory that was moved away.
func (w *watcher) forget(path string) {
	for wd, known := range w.paths {
		if known == path || strings.HasPrefix(known, path+"/") {
			delete(w.paths, wd)
			_ = w.control(func(fd int) error {
				_, err := unix.InotifyRmWatch(fd, uint32(wd))
				return err
			})
		}
	}
}

// moveTime is how long the second half of a move is waited for, which the kernel tells of by itself: whoever moves may be stopped in between. What
// was moved out of sight has none.
const moveTime = 500 * time.Millisecond

// read waits for events; none: the second half of a move does not come.
func (w *watcher) read(buffer []byte) (int, error) {
	if w.moved == nil {
		return w.file.Read(buffer)
	}
	_ = w.file.SetReadDeadline(time.Now().Add(moveTime))
	n, err := w.file.Read(buffer)
	_ = w.file.SetReadDeadline(time.Time{})
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	// It may have come while this was stopped itself.
	err = w.control(func(fd int) (err error) {
		n, err = unix.Read(fd, buffer)
		return err
	})
	if errors.Is(err, unix.EAGAIN) {
		return 0, nil
	}
	return n, err
}

type event struct {
	wd     int
	mask   uint32
	cookie uint32
	name   string
}

// changes reads a buffer of events; what ends with the first half of a move goes on in the next. ENOENT: what is watched is gone.
func (w *watcher) changes(buffer []byte) (found []*guestv1.Change, err error) {
	settle := func() {
		if w.moved != nil {
			found = append(found, w.left(*w.moved)...)
			w.moved = nil
		}
	}
	if len(buffer) == 0 {
		settle()
	}
	for _, e := range parse(buffer) {
		if e.mask&unix.IN_MOVED_FROM != 0 {
			settle()
			w.moved = &e
			continue
		}
		if w.moved != nil && e.mask&unix.IN_MOVED_TO != 0 && e.cookie == w.moved.cookie {
			more, err := w.renamed(*w.moved, e)
			if err != nil {
				return found, err
			}
			found, w.moved = append(found, more...), nil
			continue
		}
		settle()
		more, err := w.change(e)
		found = appended(found, more)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

func (w *watcher) change(e event) ([]*guestv1.Change, error) {
	if e.mask&unix.IN_Q_OVERFLOW != 0 {
		return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_MISSED, w.root, false)}, nil
	}
	path, known := w.paths[e.wd]
	if !known {
		return nil, nil
	}
	if e.mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED|unix.IN_UNMOUNT) != 0 {
		return w.endOf(e, path)
	}
	directory := e.mask&unix.IN_ISDIR != 0
	path = joined(path, e.name)
	switch {
	case e.mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		return w.made(path, directory)
	case e.mask&unix.IN_DELETE != 0:
		return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_REMOVED, path, directory)}, nil
	case e.mask&unix.IN_MODIFY != 0:
		return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_MODIFIED, path, directory)}, nil
	case e.mask&unix.IN_CLOSE_WRITE != 0:
		return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_WRITTEN, path, directory)}, nil
	case e.mask&unix.IN_ATTRIB != 0:
		return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_ATTRIBUTES, path, directory)}, nil
	}
	return nil, nil
}

// endOf: a directory below is told of by the one above it.
func (w *watcher) endOf(e event, path string) ([]*guestv1.Change, error) {
	if path != w.root {
		if e.mask&unix.IN_IGNORED != 0 {
			delete(w.paths, e.wd)
		}
		return nil, nil
	}
	return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_REMOVED, path, false)}, unix.ENOENT
}

func (w *watcher) made(path string, directory bool) ([]*guestv1.Change, error) {
	found := []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_CREATED, path, directory)}
	if !directory || !w.recursive {
		return found, nil
	}
	below, err := w.add(path)
	if errors.Is(err, errTooMany) || errors.Is(err, unix.ENOSPC) {
		return found, err
	}
	return append(found, below...), nil
}

func (w *watcher) renamed(from, to event) ([]*guestv1.Change, error) {
	directory := to.mask&unix.IN_ISDIR != 0
	found := change(guestv1.ChangeKind_CHANGE_KIND_RENAMED, joined(w.paths[to.wd], to.name), directory)
	found.From = valid(joined(w.paths[from.wd], from.name))
	if directory && w.recursive {
		// The same inodes have the same watches: only their paths become others.
		if _, err := w.add(joined(w.paths[to.wd], to.name)); errors.Is(err, errTooMany) {
			return nil, err
		}
	}
	return []*guestv1.Change{found}, nil
}

func (w *watcher) left(e event) []*guestv1.Change {
	path := joined(w.paths[e.wd], e.name)
	directory := e.mask&unix.IN_ISDIR != 0
	if directory {
		w.forget(path)
	}
	return []*guestv1.Change{change(guestv1.ChangeKind_CHANGE_KIND_REMOVED, path, directory)}
}

// appended drops what was said just before: a program that writes in pieces is told of once a buffer.
func appended(found, more []*guestv1.Change) []*guestv1.Change {
	for _, c := range more {
		if last := len(found) - 1; last >= 0 && found[last].Kind == c.Kind && found[last].Path == c.Path && c.From == "" {
			continue
		}
		found = append(found, c)
	}
	return found
}

func parse(buffer []byte) (events []event) {
	for len(buffer) >= unix.SizeofInotifyEvent {
		length := int(binary.NativeEndian.Uint32(buffer[12:]))
		if len(buffer) < unix.SizeofInotifyEvent+length {
			return events
		}
		name := buffer[unix.SizeofInotifyEvent : unix.SizeofInotifyEvent+length]
		events = append(events, event{
			wd:     int(int32(binary.NativeEndian.Uint32(buffer))),
			mask:   binary.NativeEndian.Uint32(buffer[4:]),
			cookie: binary.NativeEndian.Uint32(buffer[8:]),
			name:   strings.TrimRight(string(name), "\x00"),
		})
		buffer = buffer[unix.SizeofInotifyEvent+length:]
	}
	return events
}

func joined(directory, name string) string {
	if name == "" {
		return directory
	}
	return strings.TrimSuffix(directory, "/") + "/" + name
}

func change(kind guestv1.ChangeKind, path string, directory bool) *guestv1.Change {
	return &guestv1.Change{Kind: kind, Path: valid(path), Directory: directory}
}

// valid: a name may have any bytes, and the protocol's texts are UTF-8.
func valid(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }
