// Package shim is the host process that is the parent of one runtime, so that it outlives the daemon. It does what
// the daemon says over its socket, one JSON object a line, and decides nothing about a sandbox's life.
package shim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"torpor.dev/torpor/native/internal/host"
)

// Protocol grows by one with each change that the daemon has to know of.
const Protocol = 1

// Config describes one runtime. The daemon writes it to runtime.json in the runtime's directory before it starts the
// shim; with it alone, everything of the runtime can be found and freed.
type Config struct {
	RuntimeID string `json:"runtimeId"`
	// Engine is the command every engine call starts with: the binary and its flags.
	Engine      []string `json:"engine"`
	EngineKind  string   `json:"engineKind"` // "gvisor" or "runc"
	ContainerID string   `json:"containerId"`
	Disk        string   `json:"disk"`
	Image       string   `json:"image"`
	// Network: nil for a namespace with loopback only.
	Network *host.Network `json:"network"`
	// Cgroup is the path of the runtime's group in each hierarchy.
	Cgroup string `json:"cgroup"`
	// HardMemoryBytes is the kernel's limit, above the promised one; 0: as the engine set it.
	HardMemoryBytes int64 `json:"hardMemoryBytes"`
	// HostPids bounds the host's threads for the sandbox; 0: no bound.
	HostPids int64 `json:"hostPids"`
	// ControlDir is where the engine's control socket lies, if the engine is one whose protocol the shim speaks; else commands are run.
	ControlDir string `json:"controlDir"`
	// Guest is the path of the guest binary inside.
	Guest string `json:"guest"`
	// Storage is where the disk lies. Absent in a description of an older daemon: then nobody watches it.
	Storage *host.Storage `json:"storage"`
	// Connector is the path inside of the program that hands the line over to the guest.
	Connector string `json:"connector"`
}

var cgroupShape = regexp.MustCompile(`^/torpor-[0-9a-f]{8}/rt_[a-z0-9]{16}$`)

// readConfig refuses a description that could make a release kill or remove what is not the runtime's.
func readConfig(path string) (Config, error) {
	var config Config
	if err := readJSON(path, &config); err != nil {
		return config, err
	}
	if !cgroupShape.MatchString(config.Cgroup) {
		return config, fmt.Errorf("%s: %q is not the control group of a runtime", path, config.Cgroup)
	}
	if config.ContainerID == "" || len(config.Engine) == 0 {
		return config, fmt.Errorf("%s: it names no engine or no container", path)
	}
	return config, nil
}

// dir names the files of a runtime's directory.
type dir string

func (d dir) config() string    { return filepath.Join(string(d), "runtime.json") }
func (d dir) state() string     { return filepath.Join(string(d), "state.json") }
func (d dir) socket() string    { return filepath.Join(string(d), "shim.sock") }
func (d dir) guest() string     { return filepath.Join(string(d), "guest.sock") }
func (d dir) bundle() string    { return filepath.Join(string(d), "bundle") }
func (d dir) pidFile() string   { return filepath.Join(string(d), "engine.pid") }
func (d dir) namespace() string { return filepath.Join(string(d), "netns") }
func (d dir) log() string       { return filepath.Join(string(d), "shim.log") }
func (d dir) guestLog() string  { return filepath.Join(string(d), "guest.log") }

// state is what has to be known of a runtime when its shim was killed.
type state struct {
	// Phase: "made" (host resources may exist), "live", "ended".
	Phase string `json:"phase"`
	Pid   int    `json:"pid"`
	Start uint64 `json:"start"` // start time of Pid in clock ticks: a pid alone may be another process by now
	End   *End   `json:"end"`
	// Frozen: a shim that takes over must know that it can't ask the engine.
	Frozen bool `json:"frozen"`
	// Changing: a freeze or thaw was begun, and its end is not known.
	Changing bool `json:"changing"`
	// Hold: it is stopped for want of room, whatever the daemon asked for. nil: it is not.
	Hold *Hold `json:"hold"`
}

// End is the exit record of a runtime.
type End struct {
	Reason   string `json:"reason"` // exited, oom, killed, lost
	ExitCode *int   `json:"exitCode"`
	Message  string `json:"message"`
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// writeJSON replaces the file in one step. It is no record of last resort (the store is), so no fsync.
func writeJSON(path string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
