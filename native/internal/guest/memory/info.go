// Package memory keeps a sandbox within its memory by ending the process that outgrew it. The host's OOM killer would end
// the whole sandbox.
package memory

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Info is what /proc/meminfo says, in bytes.
type Info struct {
	Total, Available uint64
	// Held is what processes and files in memory have, Files the files' part. It can be more than there is.
	Held, Files uint64
	// Used is Held and what was given back to the engine and not yet to the host: on a busy host that takes a while.
	Used uint64
}

const meminfo = "/proc/meminfo"

// ReadInfo reads it once.
func ReadInfo() (Info, error) {
	data, err := os.ReadFile(meminfo)
	if err != nil {
		return Info{}, err
	}
	return parseInfo(data)
}

func parseInfo(data []byte) (Info, error) {
	total, ok := field(data, "MemTotal:")
	available, ok2 := field(data, "MemAvailable:")
	if !ok || !ok2 {
		return Info{}, fmt.Errorf("%s has no MemTotal or no MemAvailable", meminfo)
	}
	active, _ := field(data, "Active:")
	inactive, _ := field(data, "Inactive:")
	files, _ := field(data, "Shmem:")
	held := active + inactive
	return Info{total, available, held, files, max(held, total-min(available, total))}, nil
}

// field gives the value of a line such as "MemTotal:  262144 kB" in bytes.
func field(data []byte, name string) (uint64, bool) {
	at := bytes.Index(data, []byte(name))
	if at < 0 {
		return 0, false
	}
	line, _, _ := bytes.Cut(data[at+len(name):], []byte("\n"))
	f := bytes.Fields(line)
	if len(f) == 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(f[0]), 10, 54)
	return n << 10, err == nil
}
