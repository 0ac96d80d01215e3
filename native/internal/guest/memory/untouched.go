package memory

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// The tables in which Go's runtime (1.26, runtime/malloc.go and mpagealloc.go) finds what it knows of an address, by the
// labels that it gives its mappings. Of each a page or two are written: those of the addresses where its heap is.
var sparse = map[string]struct{ size, addresses, entry uintptr }{
	"Go: heap index":       {32 << 20, 64 << 20, 8},
	"Go: page alloc index": {1 << 20, 4 << 20, 128},
}

const (
	heapLabel = "Go: heap"
	// A hash of nothing but statistics, which nobody reads here.
	statistics = "Go: profiler hash buckets"
	// So much of a table stays on both sides of what the heap needs: room for 32 GiB of growth in the first, 128 MiB in the second.
	margin = 4096
)

type mapping struct {
	start, end uintptr
	label      string
}

// ReleaseUntouched gives back what the engine allocated for PID 1 and nothing was ever written to. The engine allocates 2 MiB
// around each page that is touched, and a look at a table by the garbage collector touches pages far from the written ones.
// Each MiB of that costs a checkpoint 1 ms, since the engine reads it whole to find that it is zero; of 15 this takes 5.
func ReleaseUntouched() {
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer file.Close()
	for _, m := range untouched(labelled(file)) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// untouched are the parts of the mappings that hold zeros, or nothing that anybody needs.
func untouched(mappings []mapping) (parts []mapping) {
	var low, high uintptr
	for _, m := range mappings {
		if m.label == heapLabel && (low == 0 || m.start < low) {
			low = m.start
		}
		if m.label == heapLabel && m.end > high {
			high = m.end
		}
	}
	add := func(label string, start, end uintptr) {
		if start < end {
			parts = append(parts, mapping{start, end, label})
		}
	}
	for _, m := range mappings {
		if m.label == statistics {
			add(m.label, m.start, m.end)
		}
		table, ok := sparse[m.label]
		if !ok || m.end-m.start != table.size || low == 0 {
			continue // not the runtime that we know
		}
		entries := table.size / table.entry
		first, last := (low-addressBase())/table.addresses, (high-1-addressBase())/table.addresses
		if first/entries != last/entries {
			continue // the heap is described by two tables of the kind
		}
		add(m.label, m.start, page(m.start+first%entries*table.entry)-margin)
		add(m.label, page(m.start+(last%entries+1)*table.entry+margin-1)+margin, m.end)
	}
	return parts
}

func page(address uintptr) uintptr { return address &^ (margin - 1) }

// addressBase is where the tables begin: on amd64 addresses are signed (runtime/malloc.go, arenaBaseOffset).
func addressBase() uintptr {
	if runtime.GOARCH == "amd64" {
		return 0xffff800000000000
	}
	return 0
}

// labelled reads lines such as "7ecf47600000-7ecf49600000 rw-p 00000000 00:00 0    [anon: Go: heap index]".
func labelled(maps io.Reader) (found []mapping) {
	lines := bufio.NewScanner(maps)
	lines.Buffer(make([]byte, 0, 4<<10), 16<<10)
	for lines.Scan() {
		line := lines.Bytes()
		_, label, ok := bytes.Cut(line, []byte("[anon: "))
		from, rest, ok2 := bytes.Cut(line, []byte("-"))
		to, rest, ok3 := bytes.Cut(rest, []byte(" "))
		if !ok || !ok2 || !ok3 || !bytes.HasPrefix(rest, []byte("rw-p")) {
			continue
		}
		start, err := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err == nil && err2 == nil {
			found = append(found, mapping{uintptr(start), uintptr(end), string(bytes.TrimRight(label, "]\n"))})
		}
	}
	return found
}
