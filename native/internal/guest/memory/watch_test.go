package memory

import (
	"testing"
	"time"
)

func TestReadsMeminfo(t *testing.T) {
	info, err := parseInfo([]byte("MemTotal:         262144 kB\nMemFree:  1 kB\nMemAvailable:   131072 kB\nActive: 300000 kB\nInactive: 2 kB\nActive(anon): 1 kB\n"))
	if err != nil || info.Total != 256<<20 || info.Available != 128<<20 || info.Used != 300002<<10 {
		t.Errorf("%+v, %v", info, err)
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

// A file in memory outlives its writer: commands that come to remove it live, and the next one that grows does not.
func TestOnlyGrowthKillsAgain(t *testing.T) {
	const margin = 8 << 20
	none, last := victim{}, victim{pid: 1 << 30}
	if !none.outgrown(time.Now(), 1, margin) {
		t.Error("the first one goes")
	}
	for i, x := range []struct {
		used uint64
		want bool
	}{{250 << 20, false}, {255 << 20, false}, {260 << 20, true}, {100 << 20, false}, {107 << 20, false}, {109 << 20, true}} {
		if got := last.outgrown(time.Now(), x.used, margin); got != x.want {
			t.Errorf("look %d at %d MiB: %v", i, x.used>>20, got)
		}
	}
}

// The engine was seen to count a file once more that was removed: the next command must not go for it.
func TestWhatWasJustGivenBackKillsNobody(t *testing.T) {
	const margin, full = 8 << 20, 300 << 20
	now := time.Now()
	last := victim{pid: 1 << 30}
	last.outgrown(now, full, margin)
	last.giveBack(now)
	last.giveBack(now.Add(settleTime)) // told once
	for i, x := range []struct {
		after time.Duration
		used  uint64
		want  bool
	}{{0, full, false}, {settleTime, full + margin, false}, {settleTime, full + margin + 1, true}, {settleTime + 1, full, true}} {
		if got := last.outgrown(now.Add(x.after), x.used, margin); got != x.want {
			t.Errorf("look %d: %v", i, got)
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
