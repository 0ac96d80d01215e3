package shim

import (
	"bytes"
	"testing"
)

func TestLooksForZerosWhereThereMayBeSome(t *testing.T) {
	full := func(t *testing.T, held, zeros int64) bool {
		t.Helper()
		memory := memoryOf(t, "runsc-memory", 0)
		defer memory.Close()
		const stretch = 1 << 20
		empty, ones := make([]byte, stretch), bytes.Repeat([]byte{1}, stretch)
		for written := int64(0); written < held; written += stretch {
			data := ones
			if written < zeros {
				data = empty
			}
			if _, err := memory.WriteAt(data, 3*written); err != nil { // holes between
				t.Fatal(err)
			}
		}
		return mayHaveZeros(memory)
	}
	for _, each := range []struct {
		held, zeros int64
		want        bool
	}{
		{zerosMinimum - 1<<20, 0, true},
		{zerosMinimum, 0, false},
		{2 * zerosMinimum, 0, false},
		{zerosMinimum, 2 << 20, true},
		{zerosMinimum, zerosMinimum, true},
	} {
		if got := full(t, each.held, each.zeros); got != each.want {
			t.Errorf("%d MiB with %d of zeros: %v", each.held>>20, each.zeros>>20, got)
		}
	}
}
