package launchline

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"testing"
)

var one, other = Nonce{1, 2, 3}, Nonce{9}

func framed(write func(w *Writer)) []byte {
	var b bytes.Buffer
	write(NewWriter(&b))
	return b.Bytes()
}

// readOn reads data until an error that is no end of a deadline.
func readOn(r *Reader) (got []byte, err error) {
	b := make([]byte, 1000)
	for {
		n, err := r.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			return got, err
		}
	}
}

func TestDataComesAsItWasWritten(t *testing.T) {
	sent := make([]byte, 3*MaxData+17)
	_, _ = rand.Read(sent)
	stream := framed(func(w *Writer) { _, _ = w.Write(sent); _ = w.Close() })
	got, err := readOn(NewReader(bytes.NewReader(stream)))
	if !errors.Is(err, ErrClosed) || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d, %v", len(got), len(sent), err)
	}
}

// A restore can cut a frame at any of its bytes: the next line is seen after each, and its first byte is the first.
func TestALineOpensWhateverItsReaderWasAt(t *testing.T) {
	before := framed(func(w *Writer) {
		_, _ = w.Write(bytes.Repeat([]byte{data}, MaxData))
		_ = w.Answer(other)
		_ = w.Close()
	})
	after := append(Opening(one), framed(func(w *Writer) { _, _ = w.Write([]byte("now")); _ = w.Close() })...)
	for cut := range len(before) + 1 {
		if cut > 40 && cut < MaxData-40 {
			continue
		}
		r := NewReader(io.MultiReader(bytes.NewReader(before[:cut]), bytes.NewReader(after)))
		for {
			_, err := readOn(r)
			if opened := new(Opened); errors.As(err, &opened) && opened.Nonce == one {
				break
			} else if errors.Is(err, io.EOF) {
				t.Fatalf("cut at %d: never opened", cut)
			}
		}
		if got, err := readOn(r); string(got) != "now" || !errors.Is(err, ErrClosed) {
			t.Errorf("cut at %d: %q, %v", cut, got, err)
		}
	}
}

func TestAnAnswerIsFoundAmongWhateverWasLeft(t *testing.T) {
	left := append([]byte{opening, opening, 1, 2}, mark(other)...)
	stream := append(append(left, mark(one)...), framed(func(w *Writer) { _, _ = w.Write([]byte("x")) })...)
	r := NewReader(bytes.NewReader(stream))
	if err := r.Skip(one); err != nil {
		t.Fatal(err)
	}
	if got, err := readOn(r); string(got) != "x" || !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if err := NewReader(bytes.NewReader(left)).Skip(one); !errors.Is(err, io.EOF) {
		t.Errorf("without an answer: %v", err)
	}
}

func TestWhatIsNoFrameIsRefused(t *testing.T) {
	for _, stream := range [][]byte{{200}, {data, 0xff, 0xff}} {
		if _, err := readOn(NewReader(bytes.NewReader(stream))); !errors.Is(err, errNoFrame) {
			t.Errorf("%v: %v", stream, err)
		}
	}
}
