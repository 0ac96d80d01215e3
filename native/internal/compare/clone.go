package compare

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/sparse"
)

// clone makes a copy of the disk that has no name: whatever ends this process, nothing of it is left.
func clone(disk, directory string) (*os.File, error) {
	source, err := os.Open(disk)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target, err := os.OpenFile(directory, os.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.IoctlFileClone(int(target.Fd()), int(source.Fd()))
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EXDEV) {
		err = copySparse(source, target) // a pool without reflinks
	}
	if err != nil {
		target.Close()
		return nil, fmt.Errorf("copy disk %s: %w", disk, err)
	}
	return target, nil
}

func copySparse(source, target *os.File) error {
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if err := target.Truncate(info.Size()); err != nil {
		return err
	}
	for offset := int64(0); ; {
		start, end, err := sparse.NextData(source, offset)
		if err != nil || start < 0 {
			return err
		}
		_, err = io.Copy(io.NewOffsetWriter(target, start), io.NewSectionReader(source, start, end-start))
		if err != nil {
			return err
		}
		offset = end
	}
}
