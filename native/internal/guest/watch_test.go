package guest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// watching starts a watch and gives what it tells, as "KIND path" with paths below dir; the channel is closed at its end.
func watching(t *testing.T, c *client, dir string, recursive bool) (told <-chan string, failed func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	stream, err := c.Watch(ctx, connect.NewRequest(&guestv1.WatchRequest{Path: dir, Recursive: recursive}))
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for stream.Receive() {
			for _, change := range stream.Msg().GetChanges() {
				text := strings.TrimPrefix(change.GetKind().String(), "CHANGE_KIND_") + " " + strings.TrimPrefix(change.GetPath(), dir)
				if change.GetFrom() != "" {
					text += " from " + strings.TrimPrefix(change.GetFrom(), dir)
				}
				lines <- text
			}
		}
	}()
	return lines, stream.Err
}

// until gives what was told up to a line.
func until(t *testing.T, told <-chan string, last string) (all []string) {
	t.Helper()
	for line := range told {
		all = append(all, line)
		if line == last {
			return all
		}
	}
	t.Fatalf("the watch ended before %q: %q", last, all)
	return nil
}

func TestWatchTellsWhatHappensInADirectory(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	told, _ := watching(t, c, dir, false)
	file := filepath.Join(dir, "a")
	succeed(t, os.WriteFile(file, []byte("content"), 0o644))
	succeed(t, os.Chmod(file, 0o600))
	succeed(t, os.Rename(file, filepath.Join(dir, "b")))
	succeed(t, os.Remove(filepath.Join(dir, "b")))
	want := []string{"CREATED /a", "MODIFIED /a", "WRITTEN /a", "ATTRIBUTES /a", "RENAMED /b from /a", "REMOVED /b"}
	if got := until(t, told, "REMOVED /b"); strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWatchFollowsDirectoriesThatAreMadeAndMoved(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	told, _ := watching(t, c, dir, true)
	succeed(t, os.MkdirAll(filepath.Join(dir, "x/y/z"), 0o755))
	until(t, told, "CREATED /x/y/z")
	succeed(t, os.WriteFile(filepath.Join(dir, "x/y/z/f"), []byte("1"), 0o644))
	until(t, told, "WRITTEN /x/y/z/f")
	succeed(t, os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "w")))
	until(t, told, "RENAMED /w from /x")
	succeed(t, os.WriteFile(filepath.Join(dir, "w/y/z/f"), []byte("22"), 0o644))
	until(t, told, "WRITTEN /w/y/z/f")
	// Moved away, it is none of the watch's business any more.
	outside := t.TempDir()
	succeed(t, os.Rename(filepath.Join(dir, "w"), filepath.Join(outside, "w")))
	succeed(t, os.WriteFile(filepath.Join(outside, "w/y/z/f"), []byte("333"), 0o644))
	succeed(t, os.WriteFile(filepath.Join(dir, "end"), nil, 0o644))
	for _, line := range until(t, told, "WRITTEN /end") {
		if strings.Contains(line, "/z/f") {
			t.Errorf("told of what was moved away: %q", line)
		}
	}
}

func TestWatchEndsWithWhatItWatches(t *testing.T) {
	c := newClient(t)
	file := filepath.Join(t.TempDir(), "f")
	succeed(t, os.WriteFile(file, []byte("1"), 0o644))
	told, failed := watching(t, c, file, false)
	succeed(t, os.WriteFile(file, []byte("22"), 0o644))
	until(t, told, "WRITTEN ")
	succeed(t, os.Remove(file))
	for range told {
	}
	if code := connect.CodeOf(failed()); code != connect.CodeNotFound {
		t.Errorf("ended with %v: %v", code, failed())
	}
	stream, err := c.Watch(background, connect.NewRequest(&guestv1.WatchRequest{Path: filepath.Join(t.TempDir(), "nope")}))
	if err == nil {
		stream.Receive()
		err = stream.Err()
	}
	if connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("watching nothing: %v", err)
	}
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
