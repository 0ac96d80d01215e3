package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Storage is where disks lie: bytes that are promised there may not be there when they are written.
type Storage struct {
	// Pool is a directory of the pool's file system.
	Pool string `json:"pool"`
	// Host is a directory of the file system in which a loop-backed pool is a sparse file; empty: the pool is no file.
	Host string `json:"host"`
	// HostReserveBytes of that file system are left to the host itself.
	HostReserveBytes int64 `json:"hostReserveBytes"`
	// ReserveBytes of the pool are kept for what running sandboxes have not written to it yet.
	ReserveBytes int64 `json:"reserveBytes"`
}

// Room is how many bytes can still be written to the pool. What programs wrote and the kernel holds back (dirty, in bytes) counts as
// written: it will be.
func (s Storage) Room(dirty int64) (int64, error) {
	room, err := freeBytes(s.Pool)
	if err != nil {
		return 0, err
	}
	room -= dirty
	if s.Host != "" {
		outer, err := freeBytes(s.Host)
		if err != nil {
			return 0, err
		}
		// What the pool's file system holds back is in nobody's control group.
		room = min(room, outer-s.HostReserveBytes-hostDirtyBytes())
	}
	return room, nil
}

func freeBytes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// DirtyBytes is what the group's processes, and those of the groups below it, wrote to files and the kernel has not written out yet.
func (c Cgroup) DirtyBytes() int64 {
	controller, keys := "memory", []string{"total_dirty", "total_writeback"}
	if UnifiedCgroups() {
		controller, keys = "", []string{"file_dirty", "file_writeback"}
	}
	bytes, _ := c.stat(controller, "memory.stat", keys...)
	return bytes
}

// Parent is the group of all runtimes of the data directory.
func (c Cgroup) Parent() Cgroup { return Cgroup{Path: filepath.Dir(c.Path)} }

// Children counts the groups right below it.
func (c Cgroup) Children() int {
	controller := "memory"
	if UnifiedCgroups() {
		controller = ""
	}
	entries, _ := os.ReadDir(filepath.Join(cgroupRoot, controller, c.Path))
	count := 0
	for _, entry := range entries {
		if entry.IsDir() {
			count++
		}
	}
	return count
}

// WrittenBytes is what was written to a block device, given as its directory in /sys/block, since it was attached.
func WrittenBytes(device string) int64 {
	text, err := os.ReadFile(filepath.Join(device, "stat"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 7 {
		return 0
	}
	sectors, _ := strconv.ParseInt(fields[6], 10, 64) // Documentation/block/stat.rst: of 512 bytes
	return sectors * 512
}

// Far says whether there is so much room beyond the reserve, whatever the kernel holds back, that nothing else need be known.
func (s Storage) Far(beyond int64) bool {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return false
	}
	room, err := s.Room(int64(info.Totalram) * int64(info.Unit))
	return err == nil && room-s.ReserveBytes > beyond
}

// LoopOf finds the loop device of a file, as its directory in /sys/block.
func LoopOf(path string) string {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.TrimSuffix(string(data), "\n") == path {
			return filepath.Dir(filepath.Dir(file))
		}
	}
	return ""
}

func hostDirtyBytes() (sum int64) {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 1 && (fields[0] == "Dirty:" || fields[0] == "Writeback:") {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += kib << 10
		}
	}
	return sum
}
