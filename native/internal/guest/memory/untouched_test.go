package memory

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// As it was in a sandbox; the heap is 0x2ced69800000 to 0x2ced6a000000.
const maps = `00d01000-02d45000 rw-p 00000000 00:00 0
2ced69800000-2ced6a000000 rw-p 00000000 00:00 0                          [anon: Go: heap]
2ced6a000000-2ced6c000000 ---p 00000000 00:00 0                          [anon: Go: heap reservation]
7ecf473a0000-7ecf47500000 rw-p 00000000 00:00 0                          [anon: Go: profiler hash buckets]
7ecf47500000-7ecf47600000 rw-p 00000000 00:00 0                          [anon: Go: page alloc index]
7ecf47600000-7ecf49600000 rw-p 00000000 00:00 0                          [anon: Go: heap index]
7ee4b223e000-7ee4b2a3e000 rw-p 00000000 00:00 0                          [stack]
`

func TestUntouchedLeavesWhatDescribesTheHeap(t *testing.T) {
	parts := untouched(labelled(strings.NewReader(maps)))
	taken := func(address uintptr) bool {
		for _, part := range parts {
			if part.start <= address && address < part.end {
				return true
			}
		}
		return false
	}
	// heap address / 64 MiB * 8, and heap address / 4 MiB % 8192 * 128, in their tables
	heap := uintptr(0x2ced69800000) - addressBase()
	arena := 0x7ecf47600000 + heap/(64<<20)*8
	chunk := 0x7ecf47500000 + heap/(4<<20)%8192*128
	for _, needed := range []uintptr{arena, arena + 8, arena - 8, chunk, chunk + 128, chunk - 128, 0x2ced69800000, 0x00d01000, 0x7ee4b223e000} {
		if taken(needed) {
			t.Errorf("%x is taken", needed)
		}
	}
	for _, free := range []uintptr{arena + 3*4096, arena - 3*4096, chunk + 3*4096, chunk - 3*4096, 0x7ecf473a0000, 0x7ecf49600000 - 1} {
		if !taken(free) {
			t.Errorf("%x is left", free)
		}
	}
}

func TestUntouchedTakesNothingFromARuntimeThatItDoesNotKnow(t *testing.T) {
	for _, changed := range []string{
		strings.ReplaceAll(maps, "7ecf49600000", "7ecf48600000"), // a smaller table
		strings.ReplaceAll(maps, "[anon: Go: heap]", ""),
	} {
		for _, part := range untouched(labelled(strings.NewReader(changed))) {
			if part.label == "Go: heap index" {
				t.Errorf("%x-%x of the table is taken", part.start, part.end)
			}
		}
	}
}

// A page too many taken from one of these tables ends the process at once, or at the next collection.
func TestReleaseUntouchedWhileTheHeapGrows(t *testing.T) {
	names, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for label := range sparse {
		if !bytes.Contains(names, []byte(label+"]")) {
			t.Skipf("this kernel keeps no names of mappings, or Go's runtime has no %q any more", label)
		}
	}
	stop := make(chan struct{})
	var releasing sync.WaitGroup
	releasing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				ReleaseUntouched()
			}
		}
	})
	var held [][]byte
	for i := range 300 { // of MiB: five arenas of 64
		block := make([]byte, 1<<20)
		block[i] = byte(i)
		held = append(held, block)
		if i%50 == 0 {
			runtime.GC()
		}
	}
	close(stop)
	releasing.Wait()
	runtime.GC()
	for i, block := range held {
		if block[i] != byte(i) {
			t.Fatalf("block %d has %d", i, block[i])
		}
	}
}
