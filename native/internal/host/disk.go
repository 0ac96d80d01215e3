// Package host makes and frees what a runtime holds on its host: mounts, a network namespace, a cgroup. It uses system
// calls rather than mount(8) and ip(8): a process start costs 3 to 5 ms, and a resume would need eight of them.
package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Root is the mounted root file system of a runtime.
type Root struct {
	Disk  string // block image with an ext4 file system
	Image string // unpacked root file system, read-only
	Dir   string // where the mount points are made: Dir/disk and Dir/root
}

// Mount puts the image below the disk. The mounts live in the caller's private mount namespace.
func (r Root) Mount() error {
	disk, root := r.diskPoint(), r.Path()
	for _, dir := range []string{disk, root} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	loop, err := attachLoop(r.Disk)
	if err != nil {
		return fmt.Errorf("attach disk %s: %w", r.Disk, err)
	}
	defer loop.Close() // autoclear: the mount holds it from here on
	// discard: files deleted inside give their blocks back to the pool.
	if err := unix.Mount(loop.Name(), disk, "ext4", unix.MS_NOATIME, "discard,errors=remount-ro"); err != nil {
		return fmt.Errorf("mount disk %s: %w", r.Disk, err)
	}
	upper, work := filepath.Join(disk, "upper"), filepath.Join(disk, "work")
	if err := makeUpper(r.Image, upper, work); err != nil {
		return errors.Join(err, r.Unmount())
	}
	if err := r.mountOverlay(upper, work, loop.Name()); err != nil {
		return errors.Join(fmt.Errorf("mount image %s: %w", r.Image, err), r.Unmount())
	}
	return nil
}

// mountOverlay has the disk on top of the image. overlayfs makes a directory anew at each mount, and if the disk has no block for it, mounts read-only:
// then nothing could be removed from a full disk. Of the blocks that ext4 keeps for its own bookkeeping it gets one; the next mount gives that back.
func (r Root) mountOverlay(upper, work, loop string) error {
	// Some kernels have these on by default: a disk has to stand by itself over another image, with whole copies of what it changed.
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,index=off,metacopy=off", r.Image, upper, work)
	mount := func() (writable bool, err error) {
		if err := unix.Mount("overlay", r.Path(), "overlay", unix.MS_NOATIME, options); err != nil {
			return false, err
		}
		var stat unix.Statfs_t
		err = unix.Statfs(r.Path(), &stat)
		return stat.Flags&unix.ST_RDONLY == 0, err
	}
	if writable, err := mount(); err != nil || writable {
		return err
	}
	if err := unmount(r.Path()); err != nil {
		return err
	}
	kept := filepath.Join("/sys/fs/ext4", filepath.Base(loop), "reserved_clusters")
	clusters, err := os.ReadFile(kept)
	if err == nil {
		err = os.WriteFile(kept, []byte("0"), 0)
	}
	if err != nil {
		return fmt.Errorf("the disk is full to its last block, and ext4 can't be told to give one: %w", err)
	}
	writable, err := mount()
	if err := errors.Join(err, os.WriteFile(kept, bytes.TrimSpace(clusters), 0)); err != nil {
		return err
	}
	if !writable {
		return errors.New("it can't be written to: the disk is full to its last block, or damaged")
	}
	return nil
}

// Unmount frees the mounts and the loop device. What isn't mounted is no error.
func (r Root) Unmount() error {
	var errs []error
	for _, point := range []string{r.Path(), r.diskPoint()} {
		if err := unmount(point); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return errors.Join(errs...)
}

// Sync writes everything in the disk's file system to the block image.
func (r Root) Sync() error {
	f, err := os.Open(r.diskPoint())
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// Path is the root directory of the runtime.
func (r Root) Path() string      { return filepath.Join(r.Dir, "root") }
func (r Root) diskPoint() string { return filepath.Join(r.Dir, "disk") }

// makeUpper gives the top of the overlay the owner and mode of the image's root, once.
func makeUpper(image, upper, work string) error {
	if err := os.Mkdir(work, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	if err := os.Mkdir(upper, 0o755); err != nil {
		if os.IsExist(err) {
			return nil
		}
		return err
	}
	var stat unix.Stat_t
	if err := unix.Stat(image, &stat); err != nil {
		return fmt.Errorf("image %s: %w", image, err)
	}
	if err := os.Chown(upper, int(stat.Uid), int(stat.Gid)); err != nil {
		return err
	}
	return unix.Chmod(upper, stat.Mode&0o7777)
}

// unmount retries while a process that was just killed still lets go of it.
func unmount(point string) error {
	for tries := 0; ; tries++ {
		err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		switch {
		case err == nil, errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY) || tries == 2000:
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// WaitLoopFree waits until no loop device holds the file: the kernel drops the mounts of a dead mount namespace a moment
// after its last process.
func WaitLoopFree(path string) error {
	for tries := 0; ; tries++ {
		held := LoopOf(path)
		if held == "" {
			return nil
		}
		if tries == 2000 {
			return fmt.Errorf("%s still holds disk %s", held, path)
		}
		time.Sleep(time.Millisecond)
	}
}
