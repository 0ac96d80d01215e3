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
		stretch := bytes.Repeat([]byte{1}, 1<<20)
		at := int64(0)
		for written := int64(0); written < held; written += 1 << 20 {
			if written < zeros {
				clear(stretch)
			} else if written == zeros {
				copy(stretch, bytes.Repeat([]byte{1}, 1<<20))
			}
			if _, err := memory.WriteAt(stretch, at); err != nil {
				t.Fatal(err)
			}
			at += 3 << 20 // holes between
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
