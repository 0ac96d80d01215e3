package memory

import (
	"testing"
	"time"
)

func TestReadsMeminfo(t *testing.T) {
	info, err := parseInfo([]byte("MemTotal:         262144 kB\nMemFree:  1 kB\nMemAvailable:   131072 kB\n"))
	if err != nil || info.Total != 256<<20 || info.Available != 128<<20 {
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

func TestCountsTheEnginesMemoryForTasks(t *testing.T) {
	if overhead(20, 200) != 0 || overhead(132, 200) != 100*taskBytes || overhead(190, 200) != 190*swarmTaskBytes || overhead(500, 0) != 468*taskBytes {
		t.Error("overhead")
	}
}
