package shim

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// failpointVariable has a shim kill itself at one of its steps, for tests of whoever has to go on without it: the step's name, or the
// path of a file that has the name and is used up, so that the next shim lives. In production it is not set.
const failpointVariable = "TORPOR_SHIM_FAILPOINT"

// failpoints are all steps there are; docs/reference/failpoints.md is made from these lines.
var failpoints = []struct{ name, when string }{
	{"launch.made", "before it makes anything on the host"},
	{"launch.mounted", "the disk is mounted"},
	{"launch.connected", "the network namespace is made"},
	{"launch.prepared", "all is made, the engine is not started"},
	{"launch.started", "the engine runs, and nothing says so yet"},
	{"launch.live", "the engine runs and is written down"},
	{"launch.linked", "the guest can be reached, the daemon is not told"},
	{"freeze.begun", "the freeze is written down as begun"},
	{"freeze.called", "the engine is frozen, and that is not written down"},
	{"freeze.done", "the freeze is written down"},
	{"capture.begun", "before the engine writes its memory"},
	{"capture.described", "the engine has written all but the pages, the shim writes them"},
	{"capture.written", "the memory is written, the disk is not synced"},
	{"capture.done", "all is written, the daemon is not told"},
	{"thaw.begun", "the thaw is written down as begun"},
	{"thaw.called", "the engine goes on, and that is not written down"},
	{"thaw.done", "the thaw is written down"},
	{"hold.begun", "it is stopped for want of room, and that is not written down"},
	{"hold.written", "it is written down, the disk is not synced"},
	{"hold.end.begun", "before it is let go on"},
	{"hold.end.written", "that is written down, it does not go on yet"},
	{"release.begun", "before it frees anything"},
	{"release.killed", "the processes are killed"},
	{"release.unmounted", "the disk is unmounted"},
	{"release.freed", "all but the runtime's directory is freed"},
}

func failpoint(name string) {
	given := os.Getenv(failpointVariable)
	if given == "" {
		return
	}
	if filepath.IsAbs(given) {
		text, err := os.ReadFile(given)
		if err != nil || strings.TrimSpace(string(text)) != name {
			return
		}
		_ = os.Remove(given)
	} else if given != name {
		return
	}
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}
