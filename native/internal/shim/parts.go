package shim

import (
	"fmt"
	"os"
	"path/filepath"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/sentry"
)

// Part is one file of a checkpoint.
type Part struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"sizeBytes"`
	Hash      string `json:"hash,omitempty"`
}

// CorruptError names the part that is not what the manifest says.
type CorruptError struct{ Part, Message string }

func (e *CorruptError) Error() string {
	return fmt.Sprintf("checkpoint part %s %s", e.Part, e.Message)
}

func listParts(location string) ([]Part, error) {
	entries, err := os.ReadDir(location)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{Name: entry.Name(), SizeBytes: info.Size()})
	}
	return parts, nil
}

func totalBytes(parts []Part) (sum int64) {
	for _, part := range parts {
		sum += part.SizeBytes
	}
	return sum
}

// digest hashes the parts of a capture. pages is what was hashed of its pages before.
func digest(location string, parts []Part, pages *checksum.Ahead) error {
	for i := range parts {
		ahead := new(checksum.Ahead)
		if parts[i].Name == sentry.PagesFile {
			ahead = pages
		}
		hash, _, err := ahead.Whole(filepath.Join(location, filepath.Base(parts[i].Name)))
		if err != nil {
			return err
		}
		parts[i].Hash = hash
	}
	return nil
}

func verify(location string, parts []Part) error {
	for _, part := range parts {
		if part.Name != filepath.Base(part.Name) {
			return &CorruptError{part.Name, "is not a plain file name"}
		}
		info, err := os.Stat(filepath.Join(location, part.Name))
		if err != nil {
			return &CorruptError{part.Name, "can't be read: " + err.Error()}
		}
		if info.Size() != part.SizeBytes {
			return &CorruptError{part.Name, fmt.Sprintf("has %d bytes and should have %d", info.Size(), part.SizeBytes)}
		}
		hash, _, err := checksum.File(filepath.Join(location, part.Name))
		if err != nil {
			return &CorruptError{part.Name, "can't be read: " + err.Error()}
		}
		if hash != part.Hash {
			return &CorruptError{part.Name, "does not have the hash that it was sealed with"}
		}
	}
	return nil
}
