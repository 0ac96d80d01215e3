package pages

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
)

const memoryPages = 12 << 10 // 48 MiB: three segments

// sandbox is a memory, and what is committed of it.
type sandbox struct {
	t       *testing.T
	random  *rand.Rand
	content *rand.ChaCha8
	memory  *os.File
	held    []bool
}

func newSandbox(t *testing.T, seed uint64) *sandbox {
	return &sandbox{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), content: rand.NewChaCha8([32]byte{byte(seed)}),
		memory: newFile(t), held: make([]bool, memoryPages),
	}
}

func newFile(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// fill has random bytes in each of the pages.
func (s *sandbox) fill(from, to int) {
	content := make([]byte, (to-from)*pageBytes)
	_, _ = s.content.Read(content)
	if _, err := s.memory.WriteAt(content, int64(from)*pageBytes); err != nil {
		s.t.Fatal(err)
	}
	for page := from; page < to; page++ {
		s.held[page] = true
	}
}

// change does what programs do: pages change one by one and many together, come and go.
func (s *sandbox) change() {
	for range s.random.IntN(40) {
		from := s.random.IntN(memoryPages)
		to := min(from+1+s.random.IntN(1<<s.random.IntN(9)), memoryPages)
		if s.random.IntN(3) == 0 {
			for page := from; page < to; page++ {
				s.held[page] = false
			}
		} else {
			s.fill(from, to)
		}
	}
}

func (s *sandbox) layout() (layout Layout) {
	for page := 0; page < memoryPages; page++ {
		start := page
		for page < memoryPages && s.held[page] {
			page++
		}
		if page > start {
			layout = append(layout, Range{int64(start) * pageBytes, int64(page) * pageBytes})
		}
	}
	return layout
}

// pages is what the engine would write.
func (s *sandbox) pages(kept Page) []byte {
	var content []byte
	for _, r := range s.layout() {
		part := make([]byte, r.length())
		if _, err := s.memory.ReadAt(part, r.Start); err != nil {
			s.t.Fatal(err)
		}
		if kept.At >= r.Start && kept.At < r.End {
			copy(part[kept.At-r.Start:], kept.Bytes)
		}
		content = append(content, part...)
	}
	return content
}

// base is one of that content, on a file system whose files share nothing: what would be shared is copied, and kept here.
func (s *sandbox) base() (*Base, *[]stretch) {
	s.t.Helper()
	file := newFile(s.t)
	if _, err := file.Write(s.pages(Page{})); err != nil {
		s.t.Fatal(err)
	}
	base, shared := newBase(file, s.layout()), new([]stretch)
	base.share = func(into *os.File, same stretch) error {
		*shared = append(*shared, same)
		return base.copyTo(into, same, make([]byte, same.length))
	}
	return base, shared
}

// write checks that the file has all that it should, and its hash; it gives how much of it was shared.
func (s *sandbox) write(base *Base, kept Page) int64 {
	s.t.Helper()
	into, want := newFile(s.t), s.pages(kept)
	last := int64(0)
	written, err := Write(into, Memory{s.memory, s.layout(), kept}, base, func(bytes int64) {
		if bytes <= last {
			s.t.Errorf("%d bytes are done after %d", bytes, last)
		}
		last = bytes
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if last != int64(len(want)) {
		s.t.Errorf("%d bytes of %d were told of", last, len(want))
	}
	got, err := os.ReadFile(into.Name())
	if err != nil || !bytes.Equal(got, want) {
		s.t.Fatalf("the file is not what the memory is (%v)", err)
	}
	ahead, size, err := written.Hash.Whole(into.Name())
	if err != nil || size != int64(len(want)) {
		s.t.Fatalf("%d bytes: %v", size, err)
	}
	if whole, _, err := checksum.File(into.Name()); err != nil || ahead != whole {
		s.t.Errorf("the hash of what was written is %s, that of the file %s: %v", ahead, whole, err)
	}
	return written.SharedBytes
}

func TestWhateverHasChangedTheFileHasTheMemory(t *testing.T) {
	for seed := range uint64(4) {
		s := newSandbox(t, seed)
		s.fill(0, memoryPages/2)
		s.fill(memoryPages/2+7, memoryPages-100)
		for range 2 {
			base, shared := s.base()
			s.change()
			sum := int64(0)
			bytes := s.write(base, Page{})
			for _, same := range *shared {
				sum += same.length
				if same.length < sharedMinimum || (same.at|same.from|same.length)%pageBytes != 0 {
					t.Errorf("%+v was shared", same)
				}
			}
			if bytes != sum || bytes < s.layout().Size()/4 {
				t.Errorf("of %d bytes %d were shared, %d said", s.layout().Size(), sum, bytes)
			}
		}
	}
}

func TestWhatIsAsItWasIsSharedInOnePieceAcrossSegments(t *testing.T) {
	s := newSandbox(t, 1)
	s.fill(10, memoryPages)
	base, shared := s.base()
	s.fill(3, 4) // all that follows is one page further in the file
	s.write(base, Page{})
	want := stretch{at: pageBytes, from: 0, length: (memoryPages - 10) * pageBytes}
	if len(*shared) != 1 || (*shared)[0] != want {
		t.Errorf("shared %+v, not %+v", *shared, want)
	}
}

func TestWhatIsTooShortIsWritten(t *testing.T) {
	s := newSandbox(t, 2)
	s.fill(0, memoryPages)
	base, shared := s.base()
	for page := 0; page < memoryPages; page += sharedMinimum / pageBytes {
		s.fill(page, page+1)
	}
	if bytes := s.write(base, Page{}); bytes != 0 || len(*shared) != 0 {
		t.Errorf("%d bytes were shared: %+v", bytes, *shared)
	}
}

func TestThePageThatChangedSinceIsAsItWasThen(t *testing.T) {
	s := newSandbox(t, 3)
	s.fill(0, memoryPages)
	base, _ := s.base()
	was := make([]byte, pageBytes)
	if _, err := s.memory.ReadAt(was, 2*pageBytes); err != nil {
		t.Fatal(err)
	}
	s.fill(2, 3)
	if shared := s.write(base, Page{2 * pageBytes, was}); shared != memoryPages*pageBytes {
		t.Errorf("%d bytes were shared", shared)
	}
	s.write(base, Page{2 * pageBytes, make([]byte, pageBytes)})
}

func TestWhatCannotBeSharedIsWritten(t *testing.T) {
	s := newSandbox(t, 4)
	s.fill(0, memoryPages)
	base, _ := s.base()
	base.share = func(*os.File, stretch) error { return unix.ENOSPC }
	if shared := s.write(base, Page{}); shared != 0 {
		t.Errorf("%d bytes were shared", shared)
	}
	// One whose file can't be read is no base, and no error.
	_ = base.Close()
	if shared := s.write(base, Page{}); shared != 0 {
		t.Errorf("%d bytes were shared", shared)
	}
}

func TestAMemoryThatCannotBeReadIsAnError(t *testing.T) {
	s := newSandbox(t, 5)
	s.fill(0, memoryPages)
	base, _ := s.base()
	layout := Layout{{0, (memoryPages + 1) * pageBytes}}
	if _, err := Write(newFile(t), Memory{File: s.memory, Layout: layout}, base, func(int64) {}); err == nil {
		t.Error("memory that is not there was written")
	}
}

func TestOfNothingAnEmptyFileIsWritten(t *testing.T) {
	s := newSandbox(t, 6)
	s.fill(0, 1)
	base, _ := s.base()
	into := newFile(t)
	written, err := Write(into, Memory{File: s.memory}, base, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	ahead, _, err := written.Hash.Whole(into.Name())
	if whole, _, _ := checksum.File(into.Name()); err != nil || ahead != whole {
		t.Errorf("its hash is %s, not %s: %v", ahead, whole, err)
	}
}

func TestAMemoryResemblesItsBaseWhileHalfOfItIsAsItWas(t *testing.T) {
	s := newSandbox(t, 7)
	s.fill(0, memoryPages)
	base, _ := s.base()
	if !base.Resembles(s.memory) {
		t.Error("it does not as it was")
	}
	s.fill(0, memoryPages/3)
	if !base.Resembles(s.memory) {
		t.Error("it does not with a third of it changed")
	}
	s.fill(0, memoryPages*2/3)
	if base.Resembles(s.memory) {
		t.Error("it does with two thirds of it changed")
	}
}

func TestABaseIsAFileOfItsLayoutOnAFileSystemThatSharesBlocks(t *testing.T) {
	file := newFile(t)
	if err := file.Truncate(2 * pageBytes); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBase(file.Name(), Layout{{0, pageBytes}}); err == nil {
		t.Error("a file of another size was taken")
	}
	base, err := OpenBase(file.Name(), Layout{{0, 2 * pageBytes}})
	sample := newFile(t)
	if shares := unix.IoctlFileClone(int(sample.Fd()), int(file.Fd())) == nil; shares != (err == nil) {
		t.Errorf("that files share blocks here is %v, and the base: %v", shares, err)
	}
	if err == nil {
		_ = base.Close()
	} else if !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("got %v", err)
	}
}
