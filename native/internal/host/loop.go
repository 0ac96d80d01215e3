package host

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func attachLoop(path string) (*os.File, error) {
	backing, err := os.OpenFile(path, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer backing.Close()
	return AttachLoop(backing, path)
}

// AttachLoop binds the file to a free loop device that frees itself with its last user. losetup shows the name.
func AttachLoop(backing *os.File, name string) (*os.File, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	config := unix.LoopConfig{Fd: uint32(backing.Fd())}
	config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
	copy(config.Info.File_name[:63], name)
	// Another process may take the free device between the two calls: then the next one.
	for range 64 {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, err
		}
		loop, err := openLoop(number)
		if err != nil {
			return nil, err
		}
		if err = unix.IoctlLoopConfigure(int(loop.Fd()), &config); err == nil {
			return loop, nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, err
		}
	}
	return nil, errors.New("every free loop device was taken by somebody else, 64 times")
}

// openLoop waits for the device node, which devtmpfs or udev makes a moment after the device. In a container whose /dev was made before the
// device nobody makes it: then this does.
func openLoop(number int) (*os.File, error) {
	path := fmt.Sprintf("/dev/loop%d", number)
	for tries := 0; ; tries++ {
		loop, err := os.OpenFile(path, os.O_RDWR|unix.O_CLOEXEC, 0)
		if err == nil || tries == 100 {
			return loop, err
		}
		if tries == 50 {
			_ = makeLoopNode(number, path)
		}
		time.Sleep(time.Millisecond)
	}
}

func makeLoopNode(number int, path string) error {
	text, err := os.ReadFile(fmt.Sprintf("/sys/block/loop%d/dev", number))
	if err != nil {
		return err
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		return err
	}
	return unix.Mknod(path, unix.S_IFBLK|0o660, int(unix.Mkdev(major, minor)))
}
