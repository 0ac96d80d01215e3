//go:build engine

package guest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

func TestEngineKeepsSessionsOverARestore(t *testing.T) {
	b := newBox(t, engineMemoryBytes)
	b.engine("run", "--detach", "--bundle", b.dir, b.id)
	c := b.connect(1, "boot")

	r, err := c.run(t, sh("first", "hostname; pwd; cat /proc/self/status | grep -i cap; cat /etc/hosts | tail -1; id"))
	must(t, err)
	t.Logf("%s%s", r.stdout, r.stderr)

	// N13: what descends from PID 1 gets no answer, root included, and finds nothing to raise its limits with.
	r, err = c.run(t, sh("inside-out", `printf 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0' | /.torpor/bin/torpor-guest connect | wc -c; ls -A /.torpor/run; grep -c cgroup2 /proc/mounts; mount -t cgroup2 x /mnt 2>/dev/null || echo refused`))
	must(t, err)
	if string(r.stdout) != "0\nguest.sock\n0\nrefused\n" {
		t.Errorf("from inside: %q %q", r.stdout, r.stderr)
	}

	b.measureExec(c)

	term := sh("term", "stty size; cat")
	term.Terminal = &guestv1.Terminal{Rows: 40, Columns: 120}
	_, err = c.Start(context.Background(), connect.NewRequest(term))
	must(t, err)
	counter := sh("counter", "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done")
	timed := sh("timed", "sleep 600")
	timed.TimeoutMs = 4000
	_, err = c.Start(context.Background(), connect.NewRequest(timed))
	must(t, err)
	_, err = c.Start(context.Background(), connect.NewRequest(counter))
	must(t, err)
	time.Sleep(500 * time.Millisecond)

	start := time.Now()
	_, err = c.Prepare(context.Background(), connect.NewRequest(&guestv1.PrepareRequest{}))
	must(t, err)
	t.Logf("prepare: %v", time.Since(start))
	start = time.Now()
	_, err = c.Prepare(context.Background(), connect.NewRequest(&guestv1.PrepareRequest{}))
	must(t, err)
	t.Logf("prepare again: %v", time.Since(start))
	b.disconnect()
	b.engine("pause", b.id)
	image := b.dir + "/image"
	b.engine("checkpoint", "--leave-running", "--image-path", image, b.id)
	t.Logf("checkpoint: %.2f MB", storedMB(image))
	b.engine("delete", "--force", b.id)
	time.Sleep(4 * time.Second) // as long as the time limit of one of its sessions
	b.engine("restore", "--detach", "--background", "--bundle", b.dir, "--image-path", image, b.id)
	c = b.connect(2, "resumed")

	if s, err := c.SessionsClient.Get(context.Background(), connect.NewRequest(&guestv1.GetRequest{SessionId: "timed"})); err != nil || s.Msg.GetEnd() != nil {
		t.Errorf("the time away was counted: %v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := c.Attach(ctx, connect.NewRequest(&guestv1.AttachRequest{SessionId: "counter"}))
	must(t, err)
	got := &result{}
	for bytes.Count(got.stdout, []byte("\n")) < 20 && stream.Receive() {
		got.take(t, stream.Msg())
	}
	cancel()
	t.Logf("counter goes on: %q (end %v)", strings.ReplaceAll(string(got.stdout), "\n", " "), got.end)
	if got.end != nil {
		t.Error("the counter has ended")
	}
	_, err = c.SessionsClient.Write(context.Background(), connect.NewRequest(&guestv1.WriteRequest{SessionId: "term", Data: []byte("hello\n"), Eof: true}))
	must(t, err)
	stream, err = c.Attach(context.Background(), connect.NewRequest(&guestv1.AttachRequest{SessionId: "term"}))
	must(t, err)
	r, err = collect(t, stream)
	must(t, err)
	if string(r.terminal) != "40 120\r\nhello\r\nhello\r\n" {
		t.Errorf("terminal: %q", r.terminal)
	}
	r, err = c.run(t, sh("after", "hostname; echo $TORPOR_GENERATION; cat /run/torpor/identity.json; ps ax"))
	must(t, err)
	t.Logf("%s%s", r.stdout, r.stderr)
	if end := waitForEnd(t, c, "timed").GetEnd(); end.GetReason() != guestv1.EndReason_END_REASON_TIMEOUT {
		t.Errorf("end %v", end)
	}
}

// measureExec compares an exec over the open channel with the same spawn timed inside, in turns: the machine's load
// changes from one second to the next.
func (b *box) measureExec(c *client) {
	b.t.Helper()
	script := "import os,time\nt=[]\nfor i in range(20):\n s=time.perf_counter(); p=os.posix_spawn('/bin/true',['true'],{}); os.waitpid(p,0); t.append(time.perf_counter()-s)\nprint(int(sorted(t)[10]*1e6))"
	var outside, inside []time.Duration
	for round := range 6 {
		for i := range 20 {
			start := time.Now()
			_, err := c.run(b.t, &guestv1.StartRequest{SessionId: fmt.Sprint("true", round, "-", i), Argv: []string{"/bin/true"}})
			must(b.t, err)
			outside = append(outside, time.Since(start))
		}
		r, err := c.run(b.t, &guestv1.StartRequest{SessionId: fmt.Sprint("inside", round), Argv: []string{"python3", "-c", script}})
		must(b.t, err)
		var micros int
		fmt.Sscan(string(r.stdout), &micros)
		inside = append(inside, time.Duration(micros)*time.Microsecond)
	}
	b.t.Logf("exec true: p50 %v, p90 %v; spawned inside: p50 %v; ratio %.2f", median(outside), percentile(outside, 90), median(inside), float64(median(outside))/float64(median(inside)))
}

func median(d []time.Duration) time.Duration { return percentile(d, 50) }

func percentile(d []time.Duration, p int) time.Duration {
	sorted := append([]time.Duration(nil), d...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted[len(sorted)*p/100]
}

// E19: memory and processes that run out end what took them, not the sandbox.
func TestEngineOutlivesAMemoryHogAndAForkBomb(t *testing.T) {
	b := newBox(t, engineMemoryBytes)
	b.engine("run", "--detach", "--bundle", b.dir, b.id)
	// As the engine of the daemon does: the hard limit lies above the promised one.
	must(t, os.WriteFile("/sys/fs/cgroup/memory/"+b.id+"/memory.limit_in_bytes", []byte(fmt.Sprint(engineMemoryBytes+engineMemoryBytes/4+(64<<20))), 0o644))
	c := b.connect(1, "boot")
	for i := range 2 {
		r, err := c.run(t, &guestv1.StartRequest{SessionId: fmt.Sprint("hog", i), Argv: []string{"python3", "-c", "bytearray(1<<30)"}})
		must(t, err)
		t.Logf("hog: %v", r.end)
		r, err = c.run(t, sh(fmt.Sprint("shell-hog", i), "python3 -c 'bytearray(1<<30)'; exit $?"))
		must(t, err)
		t.Logf("hog below a shell: %v", r.end)
		if !r.end.GetOom() || r.end.GetExitCode() != 137 || r.end.GetReason() != guestv1.EndReason_END_REASON_OOM {
			t.Errorf("end %v", r.end)
		}
	}
	s, err := c.Stats(context.Background(), connect.NewRequest(&guestv1.StatsRequest{}))
	must(t, err)
	t.Logf("stats: %v", s.Msg)

	_, err = c.Start(context.Background(), connect.NewRequest(&guestv1.StartRequest{SessionId: "bomb", Argv: []string{"bash", "-c", ":(){ :|:& };:"}}))
	must(t, err)
	for i := range 8 {
		time.Sleep(500 * time.Millisecond)
		start := time.Now()
		r, err := c.run(t, sh(fmt.Sprint("ok", i), "echo ok"))
		must(t, err)
		s, err := c.Stats(context.Background(), connect.NewRequest(&guestv1.StatsRequest{}))
		must(t, err)
		t.Logf("beside the bomb: %q after %v, %d processes", r.stdout, time.Since(start).Round(time.Millisecond), s.Msg.GetProcesses())
		if string(r.stdout) != "ok\n" || time.Since(start) > 5*time.Second || s.Msg.GetProcesses() > 300 {
			t.Errorf("got %q %q", r.stdout, r.stderr)
		}
	}
	r, err := c.run(t, sh("kill1", "kill -QUIT 1; kill -SEGV 1; kill -HUP 1; cat /.torpor/run/guest.sock; ls -la /.torpor/run /proc/1/fd; /.torpor/bin/torpor-guest connect </dev/null; mount -t cgroup -o pids x /mnt"))
	must(t, err)
	t.Logf("%s%s%v", r.stdout, r.stderr, r.end)
	_, err = c.Prepare(context.Background(), connect.NewRequest(&guestv1.PrepareRequest{}))
	must(t, err)
	_, err = c.Shutdown(context.Background(), connect.NewRequest(&guestv1.ShutdownRequest{GraceMs: 1000}))
	t.Logf("shutdown: %v", err)
}

// An idle sandbox costs little more than without a guest.
func TestEngineStaysSmall(t *testing.T) {
	const boundMB = 6
	b := newBox(t, engineMemoryBytes)
	b.engine("run", "--detach", "--bundle", b.dir, b.id)
	c := b.connect(1, "boot")
	for i := range 20 {
		_, err := c.run(t, sh(fmt.Sprint("small", i), "seq 1 2000"))
		must(t, err)
	}
	_, err := c.Prepare(context.Background(), connect.NewRequest(&guestv1.PrepareRequest{}))
	must(t, err)
	b.disconnect()
	b.engine("pause", b.id)
	b.engine("checkpoint", "--leave-running", "--image-path", b.dir+"/image", b.id)
	files, _ := os.ReadDir(b.dir + "/image")
	for _, f := range files {
		info, _ := f.Info()
		t.Log(f.Name(), info.Size())
	}
	if mb := storedMB(b.dir + "/image"); mb > boundMB {
		t.Errorf("checkpoint: %.2f MB", mb)
	}
}

// The tests of this package, run inside: what holds on Linux holds on the engine.
func TestEnginePassesTheTestsOfLinux(t *testing.T) {
	b := newBox(t, 4*engineMemoryBytes)
	build := exec.Command("go", "test", "-c", "-o", b.dir+"/root/guest.test", "torpor.dev/torpor/native/internal/guest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.engine("run", "--detach", "--bundle", b.dir, b.id)
	c := b.connect(1, "boot")
	r, err := c.run(t, &guestv1.StartRequest{SessionId: "tests", Argv: []string{"/guest.test", "-test.v"}, Workdir: "/tmp", Hold: true})
	must(t, err)
	for line := range strings.Lines(string(r.stdout)) {
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- PASS") {
			t.Log(strings.TrimSuffix(line, "\n"))
		}
	}
	if r.end.GetExitCode() != 0 {
		t.Errorf("end %v: %s", r.end, r.stderr)
	}
}
