// Package sparse tells what of a file is data and what is a hole.
package sparse

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// NextData is the first stretch of a file from the offset on that is no hole. start is -1 if there is none.
func NextData(file *os.File, offset int64) (start, end int64, err error) {
	start, err = FirstData(file, offset)
	if err != nil || start < 0 {
		return start, start, err
	}
	end, err = unix.Seek(int(file.Fd()), start, unix.SEEK_HOLE)
	return start, end, err
}

// FirstData is where the first data of a file from the offset on begins, -1 if there is none. Of a file in memory that is known at once; for the end of
// a stretch the kernel looks at each page of it.
func FirstData(file *os.File, offset int64) (int64, error) {
	start, err := unix.Seek(int(file.Fd()), offset, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return -1, nil
	}
	return start, err
}
