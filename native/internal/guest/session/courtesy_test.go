package session

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/clock"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

func TestIsCourteousToWhoTypesElsewhere(t *testing.T) {
	now := time.Unix(1000, 0)
	c := newCourtesy()
	c.now = func() time.Time { return now }
	a, b, idle := newInput(nil, true), newInput(nil, true), newInput(nil, true)
	expect := func(when string, toA, toB, toIdle bool) {
		t.Helper()
		if c.isDue(a) != toA || c.isDue(b) != toB || c.isDue(idle) != toIdle {
			t.Errorf("%s: due of a %v, of b %v, of another %v", when, c.isDue(a), c.isDue(b), c.isDue(idle))
		}
	}
	expect("nobody types", false, false, false)
	c.typed(a)
	c.typed(a)
	expect("into a", false, true, true)
	now = now.Add(typingWindow / 2)
	c.typed(b)
	expect("into both", true, true, true)
	now = now.Add(typingWindow / 2)
	expect("into b alone for a while", true, false, true)
	now = now.Add(typingWindow)
	expect("not any more", false, false, false)
}

// A flood that is there already: what is given between two rests is all that can stand between a key and its echo.
func TestAFloodRestsAfterEachPortionWhileSomebodyTypesElsewhere(t *testing.T) {
	const size = 10*courtesyBytes + 1
	for name, typed := range map[string]func(*courtesy, *input){
		"elsewhere": func(c *courtesy, _ *input) { c.typed(newInput(nil, true)) },
		"into it":   func(c *courtesy, own *input) { c.typed(own) },
		"nowhere":   func(*courtesy, *input) {},
	} {
		t.Run(name, func(t *testing.T) {
			s, write := flooded(t, size)
			var given []int
			s.courtesy.rest = func() { given = append(given, s.journal.size()) }
			typed(s.courtesy, s.input)
			unix.Close(write)
			s.pump()
			total := 0
			for _, f := range s.journal.frames {
				total += len(f.data)
			}
			if total != size {
				t.Errorf("%d bytes came of %d", total, size)
			}
			if name != "elsewhere" {
				if len(given) != 0 {
					t.Errorf("it rested %d times", len(given))
				}
				return
			}
			if len(given) != 10 {
				t.Fatalf("it rested %d times", len(given))
			}
			before := 0
			for _, bytes := range given {
				if bytes-before > courtesyBytes+frameOverheadBytes {
					t.Errorf("%d bytes between two rests", bytes-before)
				}
				before = bytes
			}
		})
	}
}

// flooded gives a terminal's stream with so much to read, and the end that it is written to. A pipe holds it without a reader.
func flooded(t *testing.T, size int) (*stream, int) {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, 1<<20); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Write(p[1], make([]byte, size)); n != size || err != nil {
		t.Fatal(n, err)
	}
	s, err := newStream(guestv1.Stream_STREAM_TERMINAL, p[0], "flood", newJournal(clock.New(), 0, false))
	if err != nil {
		t.Fatal(err)
	}
	s.courtesy, s.input = newCourtesy(), newInput(nil, true)
	return s, p[1]
}
