package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"torpor.dev/torpor/native/internal/host"
)

// Destroy frees a runtime whose shim is gone or doesn't answer: by what its directory says, or, if somebody has cleaned that
// away or the daemon was killed while it wrote it, by the names that the directory's path gives to everything.
func Destroy(path string) error {
	d := dir(path)
	config, err := readConfig(d.config())
	if err != nil {
		if config, err = configByName(path); err != nil {
			return err
		}
	}
	var current state
	pids := shimsOf(path)
	if readJSON(d.state(), &current) == nil && current.Pid > 0 && startTime(current.Pid) == current.Start {
		pids = append(pids, current.Pid)
	}
	root := host.Root{Disk: config.Disk, Image: config.Image, Dir: path}
	if err := release(root, d, config, pids); err != nil {
		return err
	}
	if config.Disk != "" {
		if err := host.WaitLoopFree(config.Disk); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}

// configByName: the daemon names control group and interface after instance and runtime, as it names the directory
// (packages/daemon/src/engines/oci/oci-engine.ts).
func configByName(path string) (Config, error) {
	id, instance := filepath.Base(path), filepath.Base(filepath.Dir(path))
	config := Config{RuntimeID: id, Cgroup: "/torpor-" + instance + "/" + id}
	if !cgroupShape.MatchString(config.Cgroup) {
		return config, fmt.Errorf("%s is not the directory of a runtime", path)
	}
	config.Network = &host.Network{Veth: "tp" + instance[:4] + id[len(id)-8:]}
	return config, nil
}

// shimsOf finds the shims of a runtime by their log: it is their output, whatever became of the directory that it was in.
func shimsOf(path string) []int {
	var pids []int
	outputs, _ := filepath.Glob("/proc/[0-9]*/fd/1")
	for _, output := range outputs {
		target, err := os.Readlink(output)
		pid, _ := strconv.Atoi(strings.Split(output, "/")[2])
		if err == nil && strings.HasPrefix(target, dir(path).log()) && isShim(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
