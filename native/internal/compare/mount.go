package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/host"
)

// Tree is a file system as a sandbox has it: a disk over an image, or an image alone.
type Tree struct {
	Disk  string `json:"disk"` // block image with an ext4 file system; empty: none
	Image string `json:"image"`
}

// mounted is a tree that can be read.
type mounted struct {
	root  *os.File // what a sandbox sees
	upper *os.File // what is on the disk alone; nil without a disk
}

const readOnly = unix.MS_RDONLY | unix.MS_NODEV | unix.MS_NOSUID | unix.MS_NOEXEC | unix.MS_NOATIME

// mount makes the tree readable below dir, which is in a mount namespace of this process alone.
func (t Tree) mount(dir string, disk *os.File) (mounted, error) {
	if disk == nil {
		root, err := openDirectory(unix.AT_FDCWD, t.Image)
		return mounted{root: root}, err
	}
	diskPoint, rootPoint := filepath.Join(dir, "disk"), filepath.Join(dir, "root")
	for _, point := range []string{diskPoint, rootPoint} {
		if err := os.MkdirAll(point, 0o700); err != nil {
			return mounted{}, err
		}
	}
	loop, err := host.AttachLoop(disk, t.Disk)
	if err != nil {
		return mounted{}, fmt.Errorf("attach a copy of disk %s: %w", t.Disk, err)
	}
	defer loop.Close() // autoclear: the mount holds it from here on
	// Of a running sandbox's disk the journal is replayed, into the copy.
	if err := unix.Mount(loop.Name(), diskPoint, "ext4", readOnly, "errors=remount-ro"); err != nil {
		return mounted{}, fmt.Errorf("mount a copy of disk %s: %w", t.Disk, err)
	}
	upper, err := openDirectory(unix.AT_FDCWD, filepath.Join(diskPoint, "upper"))
	if errors.Is(err, unix.ENOENT) { // nothing has run on it
		root, err := openDirectory(unix.AT_FDCWD, t.Image)
		return mounted{root: root}, err
	}
	if err != nil {
		return mounted{}, err
	}
	// Without an upper layer of its own the overlay writes nothing; the kernel understands what it has left there itself.
	options := fmt.Sprintf("lowerdir=%s:%s", filepath.Join(diskPoint, "upper"), t.Image)
	if err := unix.Mount("overlay", rootPoint, "overlay", readOnly, options); err != nil {
		return mounted{}, fmt.Errorf("mount image %s: %w", t.Image, err)
	}
	root, err := openDirectory(unix.AT_FDCWD, rootPoint)
	return mounted{root: root, upper: upper}, err
}

func (m mounted) close() {
	_ = m.root.Close()
	if m.upper != nil {
		_ = m.upper.Close()
	}
}

func unmount(dir string) {
	for _, point := range []string{"root", "disk"} {
		_ = unix.Unmount(filepath.Join(dir, point), unix.UMOUNT_NOFOLLOW)
	}
}

// openDirectory opens one component below parent, never through a symbolic link that is its last.
func openDirectory(parent int, name string) (*os.File, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
