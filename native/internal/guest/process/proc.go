package process

import (
	"bytes"
	"os"
	"strconv"
)

// Info is what /proc/<pid>/stat says of a process.
type Info struct {
	PID, Parent, Group, Session int
	State                       byte
}

// Read gives what is known of a process, false when it is gone.
func Read(pid int) (Info, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Info{}, false
	}
	// The name in parentheses may hold anything, parentheses included: the fields begin after the last one.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return Info{}, false
	}
	f := bytes.Fields(data[end+1:])
	if len(f) < 4 || len(f[0]) == 0 {
		return Info{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	return Info{PID: pid, State: f[0][0], Parent: number(1), Group: number(2), Session: number(3)}, true
}

// ParentOf is the parent's pid: 0 for PID 1 and for what was started from outside the sandbox, -1 for what is gone.
func ParentOf(pid int) int {
	info, ok := Read(pid)
	if !ok {
		return -1
	}
	return info.Parent
}

// List gives the pids of all processes.
func List() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
