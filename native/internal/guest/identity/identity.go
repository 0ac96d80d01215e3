// Package identity makes the sandbox know who it is: after a boot, and again after each restore, when it may be another
// sandbox than the one whose memory it has.
package identity

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const maxHostsBytes = 1 << 20

// programs has the command torpor beside the guest's own.
const programs = "/.torpor/bin"

// Hello is what the daemon says about the sandbox.
type Hello = *guestv1.HelloRequest

// Environment is the sandbox's environment for new sessions, without duplicates, sorted.
func Environment(h Hello) []string {
	env := make([]string, 0, len(h.GetEnv())+4)
	for name, value := range h.GetEnv() {
		if name == "PATH" && h.GetSelfControl() {
			value += ":" + programs
		}
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return append(Variables(h), env...)
}

// Variables are those that tell who the sandbox is. They come first: the sandbox's own settings cannot claim another id.
func Variables(h Hello) []string {
	variables := []string{
		"TORPOR_SANDBOX_ID=" + h.GetSandboxId(),
		"TORPOR_SANDBOX_NAME=" + h.GetName(),
		"TORPOR_GENERATION=" + strconv.FormatUint(h.GetGeneration(), 10),
		"HOSTNAME=" + h.GetHostname(),
	}
	if h.GetParentId() != "" {
		variables = append(variables, "TORPOR_PARENT_ID="+h.GetParentId())
	}
	if h.GetForkCount() > 0 {
		variables = append(variables,
			"TORPOR_FORK_INDEX="+strconv.FormatUint(uint64(h.GetForkIndex()), 10),
			"TORPOR_FORK_COUNT="+strconv.FormatUint(uint64(h.GetForkCount()), 10))
	}
	return variables
}

// Files is where an identity is written down.
type Files struct{ Hostname, Hosts, Resolver, Identity string }

// System is the sandbox's own.
var System = Files{Hostname: "/etc/hostname", Hosts: "/etc/hosts", Resolver: "/etc/resolv.conf", Identity: "/run/torpor/identity.json"}

// Apply sets the hostname and writes the identity down, as far as it differs from what was applied before (nil: nothing was).
// An image whose /etc cannot be written still gets the rest.
func Apply(h, before Hello, files Files) error {
	var failed []error
	same := before != nil && before.GetHostname() == h.GetHostname() && before.GetAddress() == h.GetAddress()
	if name := h.GetHostname(); name != "" && !same {
		if old, err := os.Hostname(); err != nil || old != name {
			if err := syscall.Sethostname([]byte(name)); err != nil {
				failed = append(failed, err)
			}
		}
		failed = append(failed, replace(files.Hostname, []byte(name+"\n")))
		old, err := readBounded(files.Hosts)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		} else {
			failed = append(failed, replace(files.Hosts, Hosts(old, h.GetAddress(), name)))
		}
	}
	// At a boot only: what the user put there since is theirs.
	if resolver := h.GetResolver(); resolver != "" && h.GetOrigin() == "boot" {
		failed = append(failed, replace(files.Resolver, []byte("nameserver "+resolver+"\n")))
	}
	if err := os.MkdirAll(filepath.Dir(files.Identity), 0o755); err != nil {
		failed = append(failed, err)
	} else {
		failed = append(failed, replace(files.Identity, append(Describe(h), '\n')))
	}
	return errors.Join(failed...)
}

// Describe is the identity as JSON.
func Describe(h Hello) []byte {
	identity, _ := json.Marshal(struct {
		ID         string `json:"id"`
		Name       string `json:"name"`
		Generation uint64 `json:"generation"`
		Parent     string `json:"parent,omitempty"`
		ForkIndex  uint32 `json:"forkIndex,omitempty"`
		ForkCount  uint32 `json:"forkCount,omitempty"`
	}{h.GetSandboxId(), h.GetName(), h.GetGeneration(), h.GetParentId(), h.GetForkIndex(), h.GetForkCount()})
	return identity
}

// mark ends the line of /etc/hosts that is ours to change.
const mark = "# torpor"

// Hosts gives the text of /etc/hosts with the sandbox's own line set; what others wrote stays as it is.
func Hosts(old []byte, address, name string) []byte {
	var out bytes.Buffer
	loopback := false
	lines := bufio.NewScanner(bytes.NewReader(old))
	lines.Buffer(nil, maxHostsBytes)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasSuffix(line, mark) {
			continue
		}
		if f := strings.Fields(line); len(f) > 1 && slices.Contains(f[1:], "localhost") {
			loopback = true
		}
		out.WriteString(line + "\n")
	}
	if !loopback {
		out.WriteString("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n")
	}
	if address == "" {
		address = "127.0.1.1"
	}
	out.WriteString(address + "\t" + name + "\t" + mark + "\n")
	return out.Bytes()
}

func readBounded(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHostsBytes {
		return nil, err
	}
	return os.ReadFile(path)
}

// replace writes a file atomically, and not at all when it says the same already: a needless write would make each
// checkpoint's disk differ.
func replace(path string, data []byte) error {
	if old, err := readBounded(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	temporary := path + ".torpor"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if errors.Is(err, syscall.EBUSY) { // a mount point of its own, as container engines make it
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}
