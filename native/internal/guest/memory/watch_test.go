package memory

import (
	"testing"
	"time"
)

func TestReadsMeminfo(t *testing.T) {
	info, err := parseInfo([]byte("MemTotal:         262144 kB\nMemFree:  1 kB\nMemAvailable:   131072 kB\nActive: 300000 kB\nInactive: 2 kB\nActive(anon): 1 kB\nShmem: 70000 kB\n"))
	if want := (Info{256 << 20, 128 << 20, 300002 << 10, 70000 << 10, 300002 << 10}); err != nil || info != want {
		t.Errorf("%+v, %v", info, err)
	}
	if info, _ := parseInfo([]byte("MemTotal: 1000 kB\nMemAvailable: 100 kB\nActive: 700 kB\nInactive: 0 kB\n")); info.Held != 700<<10 || info.Used != 900<<10 {
		t.Errorf("%+v with memory on its way to the host", info)
	}
	if _, err := parseInfo([]byte("MemTotal: x kB\n")); err == nil {
		t.Error("accepted")
	}
	if _, err := ReadInfo(); err != nil {
		t.Error(err)
	}
}

func TestLooksMoreOftenTheLessIsLeft(t *testing.T) {
	for left, want := range map[uint64]time.Duration{0: minInterval, 4 << 20: minInterval, 400 << 20: 97656250, 8 << 30: maxInterval} {
		if got := Interval(left); got != want {
			t.Errorf("%d: %v, want %v", left, got, want)
		}
	}
	if Margin(1<<30) != 1<<30/100*3 || Margin(64<<20) != 8<<20 {
		t.Error("margin")
	}
}

// The promised memory counts, though the engine may have been given more.
func TestCountsWhatIsLeftOfThePromise(t *testing.T) {
	if left := (Info{Total: 1000, Available: 700}).left(400); left != 100 {
		t.Errorf("%d left", left)
	}
	if left := (Info{Total: 1000, Available: 700}).left(200); left != 0 {
		t.Errorf("%d left", left)
	}
}

// A file in memory outlives its writer: the commands that come to remove it live, and the next one that grows does not.
func TestOnlyGrowthKillsAgain(t *testing.T) {
	const margin = 8 << 20
	full := Info{Held: 250 << 20, Files: 200 << 20}
	if none := (victim{}); !none.outgrown(full, margin) {
		t.Error("the first one goes")
	}
	for name, x := range map[string]struct {
		held, files uint64
		want        bool
	}{
		"nothing":                   {0, 0, false},
		"a command":                 {commandBytes, 0, false},
		"a process that grows":      {commandBytes + 1, 0, true},
		"a little file":             {margin, margin, false},
		"a file":                    {margin + 1, margin + 1, true},
		"the files' own in between": {commandBytes, margin + 1, true},
	} {
		last := victim{pid: 1 << 30}
		last.outgrown(Info{Held: full.Held + (1 << 20), Files: full.Files}, margin)
		last.outgrown(full, margin) // the least counts
		last.outgrown(Info{Held: full.Held + (1 << 20), Files: full.Files}, margin)
		if got := last.outgrown(Info{Held: full.Held + x.held, Files: full.Files + x.files}, margin); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCountsTheEnginesMemoryForTasks(t *testing.T) {
	if overhead(20, 200) != 0 || overhead(freeTasks+20, 200) != 20*taskBytes || overhead(190, 200) != 190*swarmTaskBytes || overhead(500, 0) != (500-freeTasks)*taskBytes {
		t.Error("overhead")
	}
}

// A bomb on its way has to go before it is at its limit; workers that share a large memory are no bomb.
func TestTellsASwarmByWhatItsTasksCost(t *testing.T) {
	for _, x := range []struct {
		processes int
		limit     uint64
		atLimit   bool
		want      bool
	}{{320, 256 << 20, false, true}, {120, 64 << 20, false, true}, {60, 512 << 20, false, false}, {100, 2 << 30, false, false}, {20, 2 << 30, true, true}, {swarmSize - 1, 8 << 20, true, false}} {
		if got := isSwarm(x.processes, x.limit, x.atLimit); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

func TestAllowsNewTasksByTheMemoryLeft(t *testing.T) {
	const margin = 8 << 20
	if n := allowance(300, 4<<20, margin); n != 300 {
		t.Errorf("%d tasks without memory for one", n)
	}
	if n := allowance(100, margin+(5<<20), margin); n < 101 || n > 105 {
		t.Errorf("%d tasks with memory for 5 more", n)
	}
	if n := allowance(3, 0, margin); n != anywayTasks {
		t.Errorf("%d tasks after a hog", n)
	}
	if a, b := allowance(10, 400<<20, margin), allowance(10, 401<<20, margin); a != b || a < 300 || a > 410 {
		t.Errorf("%d and %d tasks with about the same memory", a, b)
	}
}
