package identity

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"torpor.dev/torpor/native/internal/guest/clock"
	"torpor.dev/torpor/native/internal/guest/process"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/reaper"
)

func TestSetsItsOwnLineOfHostsOnly(t *testing.T) {
	first := string(Hosts([]byte("127.0.0.1 localhost\n10.0.0.9 db # mine\n"), "10.88.0.2", "box"))
	if first != "127.0.0.1 localhost\n10.0.0.9 db # mine\n10.88.0.2\tbox\t# torpor\n" {
		t.Errorf("got %q", first)
	}
	if second := string(Hosts([]byte(first), "", "other")); second != "127.0.0.1 localhost\n10.0.0.9 db # mine\n127.0.1.1\tother\t# torpor\n" {
		t.Errorf("got %q", second)
	}
	if empty := string(Hosts(nil, "", "box")); empty != "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.1.1\tbox\t# torpor\n" {
		t.Errorf("got %q", empty)
	}
}

func TestWritesTheIdentityDown(t *testing.T) {
	dir := t.TempDir()
	name, err := os.Hostname() // as it is: a test must not rename its machine
	if err != nil {
		t.Fatal(err)
	}
	files := Files{Hostname: dir + "/hostname", Hosts: dir + "/hosts", Identity: dir + "/run/identity.json"}
	h := &guestv1.HelloRequest{SandboxId: "sb_1", Name: "child", Hostname: name, Generation: 3, ParentId: "sb_0", ForkIndex: 2, ForkCount: 3}
	if err := Apply(h, nil, files); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(files.Identity); string(data) != `{"id":"sb_1","name":"child","generation":3,"parent":"sb_0","forkIndex":2,"forkCount":3}`+"\n" {
		t.Errorf("got %q", data)
	}
	if data, _ := os.ReadFile(files.Hostname); string(data) != name+"\n" {
		t.Errorf("got %q", data)
	}
	// A later generation of the same: what the sandbox made of its /etc since is its own.
	os.WriteFile(files.Hostname, []byte("mine\n"), 0o644)
	later := &guestv1.HelloRequest{SandboxId: "sb_1", Name: "child", Hostname: name, Generation: 4, ParentId: "sb_0"}
	if err := Apply(later, h, files); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(files.Hostname); string(data) != "mine\n" {
		t.Errorf("got %q", data)
	}
	if data, _ := os.ReadFile(files.Identity); string(data) != `{"id":"sb_1","name":"child","generation":4,"parent":"sb_0"}`+"\n" {
		t.Errorf("got %q", data)
	}
}

func TestRunsHooksInOrder(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(dir+"/forked.d", 0o755)
	log := filepath.Join(dir, "log")
	for name, mode := range map[string]os.FileMode{"20-b": 0o755, "10-a": 0o755, "30-off": 0o644} {
		os.WriteFile(dir+"/forked.d/"+name, []byte("#!/bin/sh\necho "+name+" $TORPOR_SANDBOX_ID $TORPOR_GENERATION $TORPOR_ORIGIN >> "+log+"\n"), mode)
	}
	k := Hooks{Reaper: reaper.New(), Spawner: process.NewSpawner(), Clock: clock.New(), Directory: dir}
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(&guestv1.HelloRequest{SandboxId: "sb", Generation: 2, Origin: "boot"})
		k.Run(&guestv1.HelloRequest{SandboxId: "sb", Generation: 2, Origin: "forked"})
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the hooks do not end")
	}
	if data, _ := os.ReadFile(log); string(data) != "10-a sb 2 forked\n20-b sb 2 forked\n" {
		t.Errorf("got %q", data)
	}
}
