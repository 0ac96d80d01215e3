package files

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever moves a file may be stopped between the two halves that the kernel tells of.
func TestAMoveWhoseHalvesComeApartIsOne(t *testing.T) {
	w, dir := watchedFile(t)
	move(t, filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	buffer := make([]byte, 4096)
	n, err := w.read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	half := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[12:]))
	if got := told(t, w, buffer[:half]); got != "" {
		t.Errorf("of the first half alone: %s", got)
	}
	if got := told(t, w, buffer[half:n]); got != "RENAMED b from a" {
		t.Errorf("got %s", got)
	}
}

func TestAMoveOutOfSightIsARemoval(t *testing.T) {
	w, dir := watchedFile(t)
	move(t, filepath.Join(dir, "a"), filepath.Join(t.TempDir(), "a"))
	buffer := make([]byte, 4096)
	for _, want := range []string{"", "REMOVED a"} {
		n, err := w.read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if got := told(t, w, buffer[:n]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// watchedFile watches a directory with a file, `a`.
func watchedFile(t *testing.T) (*watcher, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := newWatcher(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w, dir
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func told(t *testing.T, w *watcher, buffer []byte) string {
	t.Helper()
	changes, err := w.changes(buffer)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range changes {
		line := strings.TrimPrefix(c.GetKind().String(), "CHANGE_KIND_") + " " + filepath.Base(c.GetPath())
		if c.GetFrom() != "" {
			line += " from " + filepath.Base(c.GetFrom())
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}
