// Package sentry speaks to a sandbox's sentry on its control socket, as runsc does for its own commands. Each runsc command is the
// start of an 83 MB program, 10 ms of a pause that takes 90: the calls themselves take one or two.
//
// The protocol is the engine's own and may change with each version, so it is used with the pinned version alone; with any other
// the shim runs the commands. One call a connection: a JSON object {"method", "arg"} with files as SCM_RIGHTS, answered by
// {"success", "err", "result"} (gvisor.dev/gvisor/pkg/urpc).
package sentry

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Control is the control socket of one sandbox.
type Control struct {
	socket    string
	container string
}

// At finds the socket that the engine made in its state directory.
func At(stateDir, container string) Control {
	return Control{socket: filepath.Join(stateDir, "runsc-"+container+".sock"), container: container}
}

// Error is a call that the sentry refused, in its own words.
type Error struct{ Method, Message string }

func (e *Error) Error() string { return fmt.Sprintf("sentry %s: %s", e.Method, e.Message) }

// Pause stops every task.
func (c Control) Pause() error { return c.call("containerManager.Pause", nil, nil, nil) }

// Resume lets tasks go on.
func (c Control) Resume() error { return c.call("containerManager.Resume", nil, nil, nil) }

// PagesFile is the one of a checkpoint's files that has the memory.
const PagesFile = "pages.img"

// The files of a checkpoint, in the order in which the sentry takes them.
var checkpointFiles = []string{"checkpoint.img", layoutFile, PagesFile}

// Checkpoint writes the sandbox's state into the directory, uncompressed, and leaves it as it was, running or paused. Pages of zeros
// that were touched, a tenth of a small sandbox, can be left out; looking at a page that is none costs nanoseconds.
func (c Control) Checkpoint(dir string, leaveOutZeros bool) error {
	return c.checkpoint(dir, filepath.Join(dir, PagesFile), newFile, leaveOutZeros)
}

const newFile = os.O_CREATE | os.O_EXCL | os.O_RDWR

// checkpoint has the pages written to the file that is opened like that.
func (c Control) checkpoint(dir, pagesFile string, pagesFlags int, leaveOutZeros bool) error {
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	for _, name := range checkpointFiles {
		path, flags := filepath.Join(dir, name), newFile
		if name == PagesFile {
			path, flags = pagesFile, pagesFlags
		}
		f, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	// Resume: without it a checkpoint ends the sandbox, also when it fails.
	options := map[string]any{
		"metadata":                            map[string]string{"compression": "none"},
		"have_pages_file":                     true,
		"Resume":                              true,
		"app_mf_exclude_committed_zero_pages": leaveOutZeros,
	}
	return c.call("containerManager.Checkpoint", options, files, nil)
}

// underWayBytes: the sentry writes the pages in order, one write after the other, and has at most 128 of 256 KiB in its queue; what a short write
// leaves goes to the queue's end once more (pkg/sentry/state/stateio/pagesfile.go and fdwriter.go).
const underWayBytes = 2 * 128 * 256 << 10

// Settled is how much of the pages is not written again while a checkpoint goes on, of so many that there are by now.
func (c Control) Settled(size int64) int64 { return max(size-underWayBytes, 0) }

// Exec starts a program as root with every capability that PID 1 has, and the files as its descriptors 0, 1, 2.
func (c Control) Exec(argv []string, files []*os.File) error {
	const all = uint64(1)<<41 - 1
	capabilities := map[string]uint64{"PermittedCaps": all, "EffectiveCaps": all, "BoundingCaps": all}
	descriptors := make([]int, len(files))
	for i := range files {
		descriptors[i] = i
	}
	args := map[string]any{
		"argv": argv, "envv": []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "wd": "/",
		"Capabilities": capabilities, "GuestFDs": descriptors, "ContainerID": c.container,
	}
	var pid int32
	return c.call("containerManager.ExecuteAsync", args, files, &pid)
}

func (c Control) call(method string, arg any, files []*os.File, result any) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: c.socket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("sentry %s: %w", method, err)
	}
	defer conn.Close()
	message, err := json.Marshal(map[string]any{"method": method, "arg": arg})
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		descriptors := make([]int, len(files))
		for i, f := range files {
			descriptors[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(descriptors...)
	}
	n, _, err := conn.WriteMsgUnix(message, rights, nil)
	if err == nil && n < len(message) {
		_, err = conn.Write(message[n:])
	}
	runtime.KeepAlive(files)
	if err != nil {
		return fmt.Errorf("sentry %s: %w", method, err)
	}
	answer := struct {
		Success bool            `json:"success"`
		Err     string          `json:"err"`
		Result  json.RawMessage `json:"result"`
	}{}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return fmt.Errorf("sentry %s: no answer: %w", method, err)
	}
	if !answer.Success {
		return &Error{Method: method, Message: answer.Err}
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}
