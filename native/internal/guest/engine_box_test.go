//go:build engine

package guest

// These run the guest in the real engine: go test -tags engine -run Engine ./internal/guest (root; TORPOR_RUNSC names runsc).
// The root file system is the host's own under an overlay, so no image is needed.

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/protocol/torpor/guest/v1/guestv1connect"
)

const engineMemoryBytes = 512 << 20

type box struct {
	t       *testing.T
	runsc   string
	dir     string
	id      string
	memory  uint64
	channel *exec.Cmd
	pipes   []*os.File
}

func newBox(t *testing.T, memoryBytes uint64) *box {
	t.Helper()
	b := &box{t: t, memory: memoryBytes, runsc: os.Getenv("TORPOR_RUNSC"), dir: t.TempDir(), id: fmt.Sprintf("guest-test-%d", os.Getpid())}
	if b.runsc == "" {
		b.runsc = "runsc"
	}
	must(t, syscall.Mount("tmpfs", b.dir, "tmpfs", 0, ""))
	t.Cleanup(func() { _ = syscall.Unmount(b.dir, syscall.MNT_DETACH) })
	for _, sub := range []string{"upper", "work", "root", "state", "shared"} {
		must(t, os.Mkdir(filepath.Join(b.dir, sub), 0o755))
	}
	root := filepath.Join(b.dir, "root")
	must(t, syscall.Mount("overlay", root, "overlay", 0, fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", b.dir, b.dir)))
	t.Cleanup(func() { _ = syscall.Unmount(root, syscall.MNT_DETACH) })
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(b.dir, "torpor-guest"), "torpor.dev/torpor/native/cmd/torpor-guest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, os.WriteFile(filepath.Join(b.dir, "config.json"), b.spec(), 0o644))
	t.Cleanup(func() {
		b.disconnect()
		_ = b.try("delete", "--force", b.id)
		if log, _ := os.ReadFile(b.dir + "/log"); t.Failed() {
			t.Logf("log of the guest: %.4000s", log)
		}
	})
	return b
}

func (b *box) spec() []byte {
	caps := strings.Fields("CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP")
	for i := range caps {
		caps[i] = "CAP_" + caps[i]
	}
	type m = map[string]any
	mount := func(to, kind string) m { return m{"destination": to, "type": kind, "source": kind} }
	spec := m{
		"ociVersion": "1.2.0", "hostname": "engine-test", "root": m{"path": b.dir + "/root"},
		"process": m{"args": []string{"/.torpor/bin/torpor-guest", "init"}, "cwd": "/", "user": m{"uid": 0, "gid": 0}, "env": []string{"PATH=/bin"},
			"capabilities": m{"bounding": caps, "effective": caps, "permitted": caps}},
		"mounts": []m{mount("/proc", "proc"), mount("/dev", "tmpfs"), mount("/dev/pts", "devpts"), mount("/dev/shm", "tmpfs"), mount("/tmp", "tmpfs"), mount("/run", "tmpfs"), mount("/sys", "sysfs"),
			mount("/.torpor/run", "tmpfs"), {"destination": "/.torpor/bin/torpor-guest", "type": "bind", "source": b.dir + "/torpor-guest", "options": []string{"ro", "rbind"}}},
		"linux": m{"cgroupsPath": "/" + b.id, "resources": m{"memory": m{"limit": b.memory}}, "namespaces": []m{{"type": "pid"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}, {"type": "network"}}},
	}
	data, _ := json.Marshal(spec)
	return data
}

func (b *box) command(argv ...string) *exec.Cmd {
	flags := []string{"--root=" + b.dir + "/state", "--shared-root=" + b.dir + "/shared", "--platform=systrap", "--overlay2=none", "--network=none", "--allow-suid", "--in-sandbox-cgroup=v2"}
	return exec.Command(b.runsc, append(flags, argv...)...)
}

func (b *box) try(argv ...string) error {
	log, err := os.OpenFile(b.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	c := b.command(argv...)
	c.Stdout, c.Stderr = log, log
	return c.Run()
}

func (b *box) engine(argv ...string) {
	b.t.Helper()
	start := time.Now()
	if err := b.try(argv...); err != nil {
		log, _ := os.ReadFile(b.dir + "/log")
		b.t.Fatalf("runsc %v: %v\n%s", argv, err, log)
	}
	b.t.Logf("runsc %s: %v", argv[0], time.Since(start).Round(time.Millisecond))
}

// connect opens the channel with real pipes: a socketpair would make every restore fail.
func (b *box) connect(generation uint64, origin string) *client {
	b.t.Helper()
	inRead, inWrite, err := os.Pipe()
	must(b.t, err)
	outRead, outWrite, err := os.Pipe()
	must(b.t, err)
	b.channel = b.command("exec", b.id, "/.torpor/bin/torpor-connect")
	b.channel.Stdin, b.channel.Stdout, b.channel.Stderr = inRead, outWrite, os.Stderr
	must(b.t, b.channel.Start())
	inRead.Close()
	outWrite.Close()
	b.pipes = []*os.File{inWrite, outRead}
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
		return &pipeConn{outRead, inWrite}, nil
	}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	h := &http.Client{Transport: transport}
	c := &client{guestv1connect.NewGuestClient(h, "http://guest"), guestv1connect.NewSessionsClient(h, "http://guest"), guestv1connect.NewFilesClient(h, "http://guest"), transport}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	start := time.Now()
	hello, err := c.Hello(ctx, connect.NewRequest(&guestv1.HelloRequest{SandboxId: "sb_engine", Name: "box", Hostname: fmt.Sprintf("box-%d", generation),
		Generation: generation, Origin: origin, MemoryLimitBytes: b.memory, PidsLimit: 200, Workdir: "/work/here"}))
	must(b.t, err)
	b.t.Logf("hello after %v: boot %s", time.Since(start).Round(time.Millisecond), hello.Msg.GetBootId())
	return c
}

func storedMB(dir string) float64 {
	files, _ := os.ReadDir(dir)
	total := int64(0)
	for _, f := range files {
		info, _ := f.Info()
		total += info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	return float64(total) / 1e6
}

func (b *box) disconnect() {
	for _, p := range b.pipes {
		p.Close()
	}
	b.pipes = nil
	if b.channel != nil {
		_ = b.channel.Process.Kill()
		_ = b.channel.Wait()
		b.channel = nil
	}
}

type pipeConn struct{ r, w *os.File }

func (p *pipeConn) Read(b []byte) (int, error)       { return p.r.Read(b) }
func (p *pipeConn) Write(b []byte) (int, error)      { return p.w.Write(b) }
func (p *pipeConn) Close() error                     { p.r.Close(); return p.w.Close() }
func (p *pipeConn) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (p *pipeConn) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (p *pipeConn) SetDeadline(time.Time) error      { return nil }
func (p *pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (p *pipeConn) SetWriteDeadline(time.Time) error { return nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
