package checksum

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
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
	content := bytes.Repeat([]byte("torpor"), (segment+1000)/6)
	whole := sum(t, content)
	for _, at := range []int{0, 1, buffer, segment - 1, segment, len(content) - 1} {
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
	if sum(t, nil) == sum(t, []byte{0}) || sum(t, make([]byte, segment)) == sum(t, make([]byte, segment+1)) {
		t.Error("a cut is not seen")
	}
}

func TestMissingFile(t *testing.T) {
	if _, _, err := File(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
