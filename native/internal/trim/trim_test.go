package trim

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyWhatTheFileHasBlocksForIsSpare(t *testing.T) {
	const mib = 1 << 20
	file, err := os.Create(filepath.Join(t.TempDir(), "pool.img"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(16 * mib); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{2 * mib, 8 * mib} {
		if _, err := file.WriteAt(make([]byte, mib), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	for name, each := range map[string]struct {
		within Range
		want   int64
	}{
		"all of it":           {Range{0, 16 * mib}, 2 * mib},
		"a hole":              {Range{4 * mib, 2 * mib}, 0},
		"the middle of data":  {Range{2*mib + mib/4, mib / 2}, mib / 2},
		"from data to a hole": {Range{8*mib + mib/2, 7 * mib}, mib / 2},
		"behind its end":      {Range{16 * mib, mib}, 0},
	} {
		held, err := heldRanges(file, each.within)
		if err != nil || total(held) != each.want {
			t.Errorf("%s: %v, %v", name, held, err)
		}
	}
}
