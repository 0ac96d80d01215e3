package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// startTime of a process in clock ticks since boot (proc(5), stat field 22); 0 when it is gone or a zombie.
func startTime(pid int) uint64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The command in parentheses may hold anything: fields are counted from its end.
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	ticks, _ := strconv.ParseUint(fields[19], 10, 64)
	return ticks
}

// killAndWait kills the processes and waits until each is dead: reaped, or a zombie of somebody else's.
func killAndWait(pids []int, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // gone
		}
		left := max(int(time.Until(deadline).Milliseconds()), 1)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, left)
		_ = unix.Close(fd)
		if n == 0 || (err != nil && err != unix.EINTR) {
			return fmt.Errorf("process %d did not die within %s of its kill", pid, limit)
		}
	}
	return nil
}

// isShim says whether the pid is a process of this very program: its recorded pid may be somebody else's by now.
func isShim(pid int) bool {
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || pid == os.Getpid() {
		return false
	}
	return strings.Contains(theirs, "torpor-shim")
}

// ownChildren lists this process's children, those that it became the parent of included.
func ownChildren() []int {
	var pids []int
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
