package identity

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"torpor.dev/torpor/native/internal/guest/clock"
	"torpor.dev/torpor/native/internal/guest/process"
	"torpor.dev/torpor/native/internal/guest/users"
	"torpor.dev/torpor/native/internal/reaper"
)

const (
	hooksDirectory = "/etc/torpor/hooks"
	hookLimit      = 30 * time.Second
	maxHooks       = 100
)

// Hooks are programs of the sandbox that are to run after a restore, such as one that seeds a random generator anew.
type Hooks struct {
	Reaper    *reaper.Reaper
	Spawner   *process.Spawner
	Clock     *clock.Clock
	Directory string
}

// Run starts the hooks of an origin one after the other, as root, each with a time limit. It returns when all have ended.
func (k Hooks) Run(h Hello) {
	if h.GetOrigin() != "resumed" && h.GetOrigin() != "forked" {
		return
	}
	base := k.Directory
	if base == "" {
		base = hooksDirectory
	}
	dir := filepath.Join(base, h.GetOrigin()+".d")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	env := append(Environment(h), "TORPOR_ORIGIN="+h.GetOrigin(),
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
	for _, e := range entries[:min(len(entries), maxHooks)] {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		k.one(path, slices.Clone(env), null)
	}
}

func (k Hooks) one(path string, env []string, null *os.File) {
	ended := make(chan struct{})
	fd := null.Fd()
	pid, err := k.Reaper.Start(func() (int, error) {
		return k.Spawner.Start(&process.Request{Path: path, Argv: []string{path}, Env: env, Dir: "/", User: users.User{}, Files: []uintptr{fd, fd, fd}})
	}, func(syscall.WaitStatus) { close(ended) })
	if err != nil {
		return
	}
	limit := k.Clock.After(hookLimit, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	<-ended
	limit.Stop()
}
