package host

import "testing"

func TestCPUsOfAGroup(t *testing.T) {
	for bandwidth, want := range map[string]int{
		"max 100000": 8, "-1\n 100000\n": 8, "": 8, "nonsense": 8, // no bound, or none that can be read
		"250000 100000": 2, "50000 100000": 1, "1600000 100000": 8,
	} {
		if got := cpusOf(bandwidth, 8); got != want {
			t.Errorf("%q: %d, not %d", bandwidth, got, want)
		}
	}
}
