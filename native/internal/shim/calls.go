package shim

import (
	"os"

	"torpor.dev/torpor/native/internal/sentry"
)

// calls are what a running engine is asked to do: over its control socket, or by its commands.
type calls interface {
	Pause() error
	Resume() error
	// Checkpoint writes the memory into the directory, without pages of zeros if those are left out.
	Checkpoint(dir string, leaveOutZeros bool) error
	// Settled is how much of a checkpoint's pages is not written again, of so many that there are by now.
	Settled(size int64) int64
	// Exec starts a program inside with the files as its stdio; it goes on after the call.
	Exec(argv []string, files []*os.File) error
	// HoldNew keeps a start that follows from making anything until it is released; nil if the engine can't be held.
	HoldNew() (release func(), err error)
}

func callsOf(config Config, e engine) calls {
	if config.ControlDir == "" {
		return commands{e}
	}
	return sentry.At(config.ControlDir, config.ContainerID)
}

type commands struct{ engine }

func (c commands) HoldNew() (func(), error) { return nil, nil }

func (c commands) Pause() error  { return c.run("pause", c.id) }
func (c commands) Resume() error { return c.run("resume", c.id) }
func (c commands) Checkpoint(dir string, _ bool) error {
	// Without --leave-running a checkpoint ends the sandbox, also when it fails.
	return c.run("checkpoint", "--leave-running", "--image-path", dir, c.id)
}

// Settled: nobody knows in which order another version of the engine writes.
func (c commands) Settled(int64) int64 { return 0 }

func (c commands) Exec(argv []string, files []*os.File) error {
	_, _, err := c.reaper.Start(c.argv("exec", append([]string{c.id}, argv...)), "/", engineEnvironment(), files)
	return err
}
