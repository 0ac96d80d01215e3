package pace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

const atOnce = 2

// size: a byte for each read.
const size = firstReads + 2*engineReads

func begin(t *testing.T, limit time.Duration, isPaced func(pid int) bool) (path string, load *Load) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path = filepath.Join(t.TempDir(), "pages")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	load, err := start(path, atOnce, limit, isPaced)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		load.Lift()
		<-load.ended
	})
	return path, load
}

// engine reads the file as the engine does: so many reads at once, each the next of those that are left. It tells where each has ended.
func engine(t *testing.T, path string) <-chan int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	var next atomic.Int64
	read := make(chan int64, size)
	for range engineReads {
		go func() {
			var one [1]byte
			for at := next.Add(1) - 1; at < size; at = next.Add(1) - 1 {
				if _, err := file.ReadAt(one[:], at); err != nil {
					t.Error(err)
				}
				read <- at
			}
		}()
	}
	return read
}

func take(read <-chan int64, count int) []int64 {
	var places []int64
	for range count {
		places = append(places, <-read)
	}
	return places
}

func self(pid int) bool { return pid == os.Getpid() }

func TestMostReadsWaitAndTheRestGoesOn(t *testing.T) {
	path, load := begin(t, time.Hour, self)
	read := engine(t, path)
	// All but those that are held, which are none of the last.
	held := engineReads - atOnce
	places := take(read, size-held)
	if !slices.Contains(places, size-1) {
		t.Error("the last read waits for those that are held")
	}
	select {
	case at := <-read:
		t.Errorf("the read at %d did not wait", at)
	default:
	}
	load.Lift()
	places = append(places, take(read, held)...)
	slices.Sort(places)
	if len(slices.Compact(places)) != size {
		t.Error("not every place was read once")
	}
	<-load.ended
}

func TestALoadIsHeldUpForALimitedTime(t *testing.T) {
	path, load := begin(t, 50*time.Millisecond, self)
	take(engine(t, path), size)
	<-load.ended
}

func TestOthersDoNotWaitAndEndIt(t *testing.T) {
	path, load := begin(t, time.Hour, func(int) bool { return false })
	take(engine(t, path), size)
	<-load.ended
	if !load.begun.IsZero() {
		t.Error("it has begun")
	}
}

func TestNoFile(t *testing.T) {
	if _, err := Start(filepath.Join(t.TempDir(), "none"), 1, self); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
