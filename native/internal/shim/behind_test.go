package shim

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/sentry"
)

func TestWhatIsHashedBehindTheEngineGivesWayToIt(t *testing.T) {
	location := t.TempDir()
	pages := filepath.Join(location, sentry.PagesFile)
	work := &behind{location: location, room: &claim{}, settled: func(size int64) int64 { return size }}
	work.start(true)
	var hasher int
	for deadline := time.Now().Add(10 * time.Second); hasher == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		hasher = int(work.hasher.Load())
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ordinary := niceOf(unix.Gettid())
	if got := niceOf(hasher); got != min(ordinary+hashNice, 19) {
		t.Errorf("beside threads of nice %d the one that hashes has %d", ordinary, got)
	}
	if err := os.WriteFile(pages, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ahead, size, err := work.end().Whole(pages)
	if err != nil || size != 40<<20 {
		t.Fatalf("%d bytes: %v", size, err)
	}
	if whole, _, err := checksum.File(pages); err != nil || ahead != whole {
		t.Errorf("hashed behind the engine it is %s, at once %s: %v", ahead, whole, err)
	}
}

func TestWithoutASealNothingIsHashedBehindTheEngine(t *testing.T) {
	work := &behind{location: t.TempDir(), room: &claim{}, settled: func(size int64) int64 { return size }}
	work.start(false)
	work.end()
	if work.hasher.Load() != 0 {
		t.Error("a thread was made for it")
	}
}
