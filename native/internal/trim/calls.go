package trim

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// linux/fsmap.h and linux/fs.h, which golang.org/x/sys does not have.
const (
	getFsmap     = 0xc0c0583b // FS_IOC_GETFSMAP
	specialOwner = 0x10       // FMR_OF_SPECIAL_OWNER
	lastRecord   = 0x20       // FMR_OF_LAST
	ownerFree    = 1          // FMR_OWN_FREE
	fitrim       = 0xc0185879 // FITRIM
)

type fsmapRecord struct {
	device, flags                   uint32
	physical, owner, offset, length uint64
	_                               [3]uint64
}

type fsmapHead struct {
	inFlags, outFlags, count, entries uint32
	_                                 [6]uint64
	keys                              [2]fsmapRecord
	records                           [512]fsmapRecord
}

// freeRanges asks the file system that the directory is in.
func freeRanges(directory *os.File) (free []Range, err error) {
	head := &fsmapHead{count: uint32(len(fsmapHead{}.records))}
	last := ^uint64(0)
	head.keys[1] = fsmapRecord{device: ^uint32(0), flags: ^uint32(0), physical: last, owner: last, offset: last}
	for {
		if err := ioctl(directory, getFsmap, unsafe.Pointer(head)); err != nil {
			return nil, os.NewSyscallError("FS_IOC_GETFSMAP", err)
		}
		if head.entries == 0 {
			return free, nil
		}
		for _, record := range head.records[:head.entries] {
			if record.flags&specialOwner != 0 && record.owner == ownerFree {
				free = append(free, Range{int64(record.physical), int64(record.length)})
			}
		}
		end := head.records[head.entries-1]
		if end.flags&lastRecord != 0 {
			return free, nil
		}
		head.keys[0] = end // the next answer begins behind it
	}
}

// discard has the file system discard what of the range is free: what is used again by now is left alone.
func discard(directory *os.File, each Range) error {
	request := struct{ start, length, minimum uint64 }{uint64(each.start), uint64(each.length), 0}
	return os.NewSyscallError("FITRIM", ioctl(directory, fitrim, unsafe.Pointer(&request)))
}

func ioctl(file *os.File, request uintptr, argument unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), request, uintptr(argument))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
			continue
		}
		return errno
	}
}
