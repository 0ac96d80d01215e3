package session

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/process"
)

// parseSignal takes "TERM", "SIGTERM" or "15".
func parseSignal(name string) (syscall.Signal, error) {
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n < 65 {
		return syscall.Signal(n), nil
	}
	upper := strings.ToUpper(name)
	if !strings.HasPrefix(upper, "SIG") {
		upper = "SIG" + upper
	}
	if s := unix.SignalNum(upper); s != 0 {
		return s, nil
	}
	return 0, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("there is no signal %q", name))
}

// killAll kills the group and every other process of the session: a shell with job control gives each job its own group.
func killAll(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGKILL)
	for _, pid := range process.List() {
		if info, ok := process.Read(pid); ok && info.Session == leader && pid != leader {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// MarkOutOfMemory says that the memory watch is about to kill a process: the session that it belongs to, by session id or
// by an ancestor, has run out of memory.
func (t *Table) MarkOutOfMemory(pid int) {
	const maxDepth = 64
	for range maxDepth {
		info, ok := process.Read(pid)
		if !ok || pid <= 1 {
			return
		}
		for _, leader := range []int{pid, info.Session, info.Group} {
			if s := t.OfProcess(leader); s != nil {
				s.mu.Lock()
				s.cause.oom = true
				s.mu.Unlock()
				return
			}
		}
		pid = info.Parent
	}
}
