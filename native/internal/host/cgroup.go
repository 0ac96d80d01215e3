package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// Cgroup is the control group of a runtime, on the hierarchies of v1 or the one of v2. The engine makes it and joins it;
// we raise its limit, watch it and remove it.
type Cgroup struct{ Path string } // below the root of each hierarchy

// UnifiedCgroups says whether the host has cgroup v2 alone.
func UnifiedCgroups() bool {
	var stat unix.Statfs_t
	return unix.Statfs(cgroupRoot, &stat) == nil && stat.Type == unix.CGROUP2_SUPER_MAGIC
}

// SetMemoryLimit sets the hard limit in bytes: the kernel's last resort, above what is promised.
func (c Cgroup) SetMemoryLimit(bytes int64) error {
	if UnifiedCgroups() {
		return c.write("memory", "memory.max", strconv.FormatInt(bytes, 10))
	}
	return c.write("memory", "memory.limit_in_bytes", strconv.FormatInt(bytes, 10))
}

// SetPidsLimit bounds the host's threads that the engine uses for the sandbox.
func (c Cgroup) SetPidsLimit(count int64) error {
	return c.write("pids", "pids.max", strconv.FormatInt(count, 10))
}

// MemoryBytes is what its processes hold now, page cache aside: that is freed at need.
func (c Cgroup) MemoryBytes() (int64, error) {
	if UnifiedCgroups() {
		return c.stat("memory", "memory.stat", "anon", "shmem", "kernel_stack", "pagetables")
	}
	return c.stat("memory", "memory.stat", "rss", "shmem")
}

// CPUs is how many CPUs its processes may use, at least one: those of the host, or its quota.
func (c Cgroup) CPUs() int {
	if UnifiedCgroups() {
		bandwidth, _ := c.read("cpu", "cpu.max")
		return cpusOf(string(bandwidth), runtime.NumCPU())
	}
	quota, _ := c.read("cpu", "cpu.cfs_quota_us")
	period, _ := c.read("cpu", "cpu.cfs_period_us")
	return cpusOf(string(quota)+" "+string(period), runtime.NumCPU())
}

// cpusOf reads "quota period": the quota is "max" or -1 where there is none.
func cpusOf(bandwidth string, host int) int {
	fields := strings.Fields(bandwidth)
	if len(fields) < 2 {
		return host
	}
	quota, err := strconv.Atoi(fields[0])
	period, _ := strconv.Atoi(fields[1])
	if err != nil || quota <= 0 || period <= 0 {
		return host
	}
	return min(max(quota/period, 1), host)
}

// Freeze has the kernel stop its processes, each as soon as it is not in a system call. IsFrozen says when all have.
func (c Cgroup) Freeze() error {
	if UnifiedCgroups() {
		return c.write("freezer", "cgroup.freeze", "1")
	}
	return c.write("freezer", "freezer.state", "FROZEN")
}

// Thaw lets its processes go on that the kernel's freezer has stopped; runc's pause does it that way too.
func (c Cgroup) Thaw() error {
	if UnifiedCgroups() {
		return c.write("freezer", "cgroup.freeze", "0")
	}
	return c.write("freezer", "freezer.state", "THAWED")
}

func (c Cgroup) IsFrozen() bool {
	if UnifiedCgroups() {
		frozen, _ := c.stat("freezer", "cgroup.events", "frozen")
		return frozen == 1
	}
	text, _ := c.read("freezer", "freezer.state")
	return strings.TrimSpace(string(text)) == "FROZEN"
}

// OOMKills counts the kernel's kills for want of memory in it.
func (c Cgroup) OOMKills() int64 {
	file := "memory.oom_control"
	if UnifiedCgroups() {
		file = "memory.events"
	}
	count, _ := c.stat("memory", file, "oom_kill")
	return count
}

// Pids lists its processes. The empty path is the root of the hierarchy, with every process of the host in it: never ours.
func (c Cgroup) Pids() []int {
	if strings.Trim(c.Path, "/.") == "" {
		return nil
	}
	data, err := c.read("memory", "cgroup.procs")
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Remove takes it out of every hierarchy. Its processes have to be gone; the last may need a moment.
func (c Cgroup) Remove() error {
	if strings.Trim(c.Path, "/.") == "" {
		return nil
	}
	dirs := []string{filepath.Join(cgroupRoot, c.Path)}
	if !UnifiedCgroups() {
		dirs, _ = filepath.Glob(filepath.Join(cgroupRoot, "*", c.Path))
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, removeGroup(dir))
	}
	return errors.Join(errs...)
}

func removeGroup(dir string) error {
	for tries := 0; ; tries++ {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || tries == 2000 {
			return fmt.Errorf("remove cgroup %s: %w", dir, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// file is where one lies: v1 has a hierarchy for each controller, v2 one for all.
func (c Cgroup) file(controller, name string) string {
	if UnifiedCgroups() {
		controller = ""
	}
	return filepath.Join(cgroupRoot, controller, c.Path, name)
}

func (c Cgroup) read(controller, file string) ([]byte, error) {
	return os.ReadFile(c.file(controller, file))
}

func (c Cgroup) write(controller, file, value string) error {
	return os.WriteFile(c.file(controller, file), []byte(value), 0o644)
}

func (c Cgroup) stat(controller, file string, keys ...string) (int64, error) {
	data, err := c.read(controller, file)
	if err != nil {
		return 0, err
	}
	var sum int64
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		for _, key := range keys {
			if name == key {
				n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
				sum += n
			}
		}
	}
	return sum, nil
}
