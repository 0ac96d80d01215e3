package shim

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"torpor.dev/torpor/native/internal/host"
)

// Boot starts the runtime from its disk.
func (r *Runtime) Boot() error {
	return r.launch(func() error { return nil }, func(stdio []*os.File) error { return r.start(stdio, "run", "--detach") })
}

func (r *Runtime) start(stdio []*os.File, verb string, flags ...string) error {
	return r.engine.runWith(stdio, verb, append(flags, "--bundle", r.dir.bundle(), "--pid-file", r.dir.pidFile(), r.config.ContainerID)...)
}

func (r *Runtime) launch(check func() error, start func(stdio []*os.File) error) error {
	r.launching.Lock()
	defer r.launching.Unlock()
	r.mu.Lock()
	phase, leaving := r.state.Phase, r.leaving
	r.mu.Unlock()
	if leaving {
		return errGivenUp
	}
	if phase != "" {
		return fmt.Errorf("the runtime was started before (it is %s)", phase)
	}
	if err := r.record(state{Phase: "made"}); err != nil {
		return err
	}
	failpoint("launch.made")
	if err := r.startPrepared(check, start); err != nil {
		return errors.Join(err, r.Release())
	}
	failpoint("launch.started")
	if err := r.nowLive(); err != nil {
		return errors.Join(err, r.Release())
	}
	failpoint("launch.live")
	r.link.live()
	failpoint("launch.linked")
	go r.watchRoom()
	time.AfterFunc(time.Second, debug.FreeOSMemory) // takes 3 ms of a CPU that the start of the sandbox needs now
	return nil
}

// startPrepared starts the engine on a host that is prepared for it. An engine that can be held starts beside: it needs as
// long until it comes to its container.
func (r *Runtime) startPrepared(check func() error, start func(stdio []*os.File) error) error {
	release, err := r.calls.HoldNew()
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	run := func() { started <- r.startWithLine(start) }
	if release != nil {
		go run()
	}
	if err := r.prepareHost(check); err != nil {
		if release == nil {
			return err
		}
		r.engine.flight.end()
		release()
		<-started
		return err
	}
	failpoint("launch.prepared")
	if release == nil {
		run()
	} else {
		release()
	}
	return <-started
}

// startWithLine gives the runtime its log, and pipes through which its PID 1 is reached first.
func (r *Runtime) startWithLine(start func(stdio []*os.File) error) error {
	log, err := os.OpenFile(r.dir.guestLog(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	guestIn, guestOut, err := r.link.openFirst()
	if err != nil {
		return err
	}
	defer guestIn.Close()
	defer guestOut.Close()
	return start([]*os.File{guestIn, guestOut, log})
}

// prepareHost makes mounts and namespace and runs the check beside them.
func (r *Runtime) prepareHost(check func() error) error {
	results := make(chan error, 3)
	go func() {
		err := r.root.Mount()
		failpoint("launch.mounted")
		results <- err
	}()
	go func() {
		err := host.MakeNamespace(r.dir.namespace(), r.config.Network)
		failpoint("launch.connected")
		results <- err
	}()
	go func() { results <- check() }()
	return errors.Join(<-results, <-results, <-results)
}

func (r *Runtime) nowLive() error {
	text, err := os.ReadFile(r.dir.pidFile())
	if err != nil {
		return fmt.Errorf("the engine left no pid: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("the engine's pid file: %w", err)
	}
	if r.config.HardMemoryBytes > 0 {
		if err := r.cgroup.SetMemoryLimit(r.config.HardMemoryBytes); err != nil {
			return fmt.Errorf("set the memory limit: %w", err)
		}
	}
	if r.config.HostPids > 0 {
		if err := r.cgroup.SetPidsLimit(r.config.HostPids); err != nil {
			return fmt.Errorf("set the pids limit: %w", err)
		}
	}
	r.oomsSeen = r.cgroup.OOMKills()
	if err := r.record(state{Phase: "live", Pid: pid, Start: startTime(pid)}); err != nil {
		return err
	}
	r.mu.Lock()
	status, gone := r.adopted[pid]
	r.mu.Unlock()
	if gone {
		r.ended(pid, status)
		return errors.New("the runtime ended as soon as it was started: its log has the details")
	}
	return nil
}
