package host

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAFullDiskIsMountedToBeWrittenTo(t *testing.T) {
	dir := t.TempDir()
	root := Root{Disk: filepath.Join(dir, "disk.img"), Image: filepath.Join(dir, "image"), Dir: filepath.Join(dir, "runtime")}
	if err := errors.Join(os.Mkdir(root.Image, 0o755), os.Mkdir(root.Dir, 0o755), os.WriteFile(root.Disk, nil, 0o600), os.Truncate(root.Disk, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-J", "size=4", root.Disk).CombinedOutput(); err != nil {
		t.Skipf("no mkfs.ext4 here: %v %s", err, output)
	}
	inOwnMounts(t, func() error { return mountFull(root) })
}

func mountFull(root Root) error {
	filler := filepath.Join(root.Path(), "filler")
	if err := root.Mount(); err != nil {
		return err
	}
	if err := errors.Join(fill(filler), root.Unmount(), root.Mount()); err != nil {
		return err
	}
	// Nothing but a removal helps on a full disk.
	return errors.Join(os.Remove(filler), os.WriteFile(filler, []byte("fits"), 0o600), root.Unmount())
}

// fill leaves a hole beside each block, so that where they are takes many blocks too: those that the file system keeps for that.
func fill(name string) error {
	const block = 4 << 10
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	for at := int64(0); ; at += 2 * block {
		switch _, err := file.WriteAt(make([]byte, block), at); {
		case errors.Is(err, unix.ENOSPC):
			return nil
		case err != nil:
			return err
		}
	}
}
