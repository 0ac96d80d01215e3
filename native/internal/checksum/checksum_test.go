package checksum

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(t *testing.T, content []byte) string {
	t.Helper()
	hash, size, err := File(write(t, content))
	if err != nil || size != int64(len(content)) {
		t.Fatalf("size %d, error %v", size, err)
	}
	return hash
}

func TestEveryFlippedByteChangesTheHash(t *testing.T) {
	content := bytes.Repeat([]byte("torpor"), (SegmentBytes+1000)/6)
	whole := sum(t, content)
	for _, at := range []int{0, 1, 4096, SegmentBytes - 1, SegmentBytes, len(content) - 1} {
		content[at] ^= 1
		if sum(t, content) == whole {
			t.Errorf("a flip at %d is not seen", at)
		}
		content[at] ^= 1
	}
	if sum(t, content) != whole {
		t.Error("the hash of equal content differs")
	}
}

func TestLengthAndEmptyFile(t *testing.T) {
	if sum(t, nil) == sum(t, []byte{0}) || sum(t, make([]byte, SegmentBytes)) == sum(t, make([]byte, SegmentBytes+1)) {
		t.Error("a cut is not seen")
	}
}

func TestMissingFile(t *testing.T) {
	if _, _, err := File(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}

func TestAheadHashesWhatIsSettledAndNothingTwice(t *testing.T) {
	content := bytes.Repeat([]byte("torpor"), (2*SegmentBytes+1000)/6)
	path := write(t, content[:SegmentBytes+7])
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ahead Ahead
	for _, step := range []struct {
		settled int64
		more    bool
	}{{0, false}, {SegmentBytes - 1, false}, {SegmentBytes, true}, {SegmentBytes + 7, false}} {
		if more, err := ahead.Next(f, step.settled); more != step.more || err != nil {
			t.Errorf("with %d bytes settled: more %v, error %v", step.settled, more, err)
		}
	}
	if _, err := f.WriteAt(content[SegmentBytes:], SegmentBytes); err != nil {
		t.Fatal(err)
	}
	if hash, size, err := ahead.Whole(path); hash != sum(t, content) || size != int64(len(content)) || err != nil {
		t.Errorf("got %s, %d bytes, error %v", hash, size, err)
	}
	// A settled segment is not looked at again.
	if _, err := f.WriteAt([]byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if hash, _, err := ahead.Whole(path); hash != sum(t, content) || err != nil {
		t.Errorf("got %s, error %v", hash, err)
	}
	if err := os.Truncate(path, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ahead.Whole(path); err == nil {
		t.Error("a cut is not seen")
	}
}

func TestBytesThatTheDiskCannotGiveAreAnError(t *testing.T) {
	f, err := os.Open(write(t, bytes.Repeat([]byte("torpor"), 1000)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := hashSegment(f, 0, 64<<10); !errors.Is(err, unix.EIO) || !strings.HasPrefix(err.Error(), "byte 8192: ") {
		t.Errorf("got %v", err)
	}
}
