package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"torpor.dev/torpor/native/internal/pace"
	"torpor.dev/torpor/native/internal/sentry"
)

const (
	// largeBytes: a checkpoint whose verification takes longer (30 ms) than one more start of the engine's command does.
	largeBytes = 128 << 20
	// pacedBytes: one whose load keeps the CPUs from the sandbox for so long (0.5 s on two) that a longer load is worth it.
	pacedBytes = 1 << 30
)

// Restore brings back a checkpoint after every part of it was verified.
func (r *Runtime) Restore(location string, parts []Part) error {
	check := func() error { return verify(location, parts) }
	restore := func(stdio []*os.File) error {
		return r.start(stdio, "restore", "--detach", "--background", "--image-path", location)
	}
	if totalBytes(parts) < largeBytes {
		return r.launch(check, restore)
	}
	// An empty sandbox is made meanwhile: that takes half of a restore, and reads nothing of the checkpoint.
	return r.launch(func() error { return nil }, func(stdio []*os.File) error {
		created := make(chan error, 1)
		go func() { created <- r.start(stdio, "create") }()
		if err := errors.Join(check(), <-created); err != nil {
			return err
		}
		r.openBase(location)
		if totalBytes(parts) >= pacedBytes {
			r.paceLoad(location)
		}
		if err := restore(stdio); err != nil {
			return err
		}
		time.AfterFunc(wakeTime, r.hurryLoad)
		return nil
	})
}

// wakeTime is what a sandbox needs at most for its first answers, once the engine lets it go on.
const wakeTime = 250 * time.Millisecond

// paceLoad has the load of the memory leave half of the CPUs to the sandbox while it wakes. Where the kernel can't do that, it does not.
func (r *Runtime) paceLoad(location string) {
	isOurs := func(pid int) bool { return slices.Contains(r.cgroup.Pids(), pid) }
	load, err := pace.Start(filepath.Join(location, sentry.PagesFile), max(r.cgroup.CPUs()/2, 1), isOurs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torpor-shim: the load of the memory does not give way:", err)
		return
	}
	r.mu.Lock()
	r.load = load
	r.mu.Unlock()
}

// hurryLoad lets the rest of the memory in as fast as it comes: the sandbox is awake, or somebody needs all of it.
func (r *Runtime) hurryLoad() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load != nil {
		r.load.Lift()
		r.load = nil
	}
}
