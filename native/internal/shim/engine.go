package shim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"torpor.dev/torpor/native/internal/children"
)

// engine runs the OCI runtime's commands as children of the shim.
type engine struct {
	command []string
	id      string
	reaper  *children.Reaper
	flight  *flight
}

// errGivenUp: the runtime is being destroyed.
var errGivenUp = errors.New("the runtime is being destroyed")

// flight are the commands at work. A destroy ends them: one that went on would make anew what the destroy has removed.
type flight struct {
	mu    sync.Mutex
	pids  map[int]struct{}
	ended bool
}

func (f *flight) enter(start func() (int, error)) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return 0, errGivenUp
	}
	pid, err := start()
	if err == nil {
		f.pids[pid] = struct{}{}
	}
	return pid, err
}

func (f *flight) leave(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pids, pid)
}

// end kills those at work, and refuses new ones.
func (f *flight) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for pid := range f.pids {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // each leads a session of its own
	}
}

// EngineError is a command that failed, with the engine's own last words.
type EngineError struct {
	Command string
	Status  syscall.WaitStatus
	Output  string
}

func (e *EngineError) Error() string {
	return fmt.Sprintf("engine %s: exit %d: %s", e.Command, e.Status.ExitStatus(), lastLines(e.Output))
}

// run runs a command that ends by itself.
func (e engine) run(verb string, args ...string) error {
	output, err := os.CreateTemp("", "torpor-engine-")
	if err != nil {
		return err
	}
	defer output.Close()
	_ = os.Remove(output.Name())
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	return e.runWith([]*os.File{null, output, output}, verb, args...)
}

// runWith runs a command whose surviving children (sentry, gofer) keep the files as input, output and log.
// The log has to be opened to append: a restored sandbox writes at its own offset otherwise.
func (e engine) runWith(stdio []*os.File, verb string, args ...string) error {
	log := stdio[2]
	before, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var done <-chan children.Status
	pid, err := e.flight.enter(func() (pid int, err error) {
		pid, done, err = e.reaper.Start(e.argv(verb, args), "/", engineEnvironment(), stdio)
		return pid, err
	})
	if err != nil {
		return err
	}
	status := <-done
	e.flight.leave(pid)
	if status.Exited() && status.ExitStatus() == 0 {
		return nil
	}
	tail := make([]byte, 64<<10)
	n, err := log.ReadAt(tail, before)
	if err != nil && !errors.Is(err, io.EOF) {
		n = 0
	}
	return &EngineError{Command: verb, Status: status, Output: string(tail[:n])}
}

func (e engine) argv(verb string, args []string) []string {
	return append(append(append([]string{}, e.command...), verb), args...)
}

func engineEnvironment() []string { return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"} }

// lastLines keeps what a person needs: a Go panic's first line, else the last three lines.
func lastLines(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	var kept bytes.Buffer
	for _, line := range lines[max(0, len(lines)-3):] {
		if kept.Len() > 0 {
			kept.WriteString("; ")
		}
		kept.WriteString(strings.TrimSpace(line))
	}
	return kept.String()
}
