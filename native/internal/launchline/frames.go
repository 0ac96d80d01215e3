// Package launchline is how shim and PID 1 speak over the pipes that come with a launch: PID 1's own input and output.
//
// The engine puts new pipes in the place of the old ones at a restore, without a word to PID 1, which may be in the middle
// of a message of before. So both directions are framed, and a line begins with as much padding as a frame can be long:
// whatever its reader was at, it comes to itself in the padding and sees the opening.
package launchline

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// MaxData is the most that a frame carries.
const MaxData = 32 << 10

const (
	padding byte = iota // a frame of one byte
	data                // two bytes of length, big endian, and as many bytes
	opening             // a nonce
	closing             // nothing
)

const headerBytes = 3

// Nonce names one line; the answer to an opening is the same opening.
type Nonce [16]byte

// Opening is what begins a line.
func Opening(nonce Nonce) []byte {
	return append(make([]byte, MaxData+headerBytes+len(nonce)), mark(nonce)...)
}

func mark(nonce Nonce) []byte { return append([]byte{opening}, nonce[:]...) }

// Opened is the error of a read that came upon the beginning of another line.
type Opened struct{ Nonce Nonce }

func (*Opened) Error() string { return "another line was opened" }

// ErrClosed is that of a read when the other side has closed the line.
var ErrClosed = errors.New("the other side closed the line")

var errNoFrame = errors.New("the other side sent something that is no frame")

// Reader reads the data of frames.
type Reader struct {
	r    *bufio.Reader
	left int // of the frame at work
}

// NewReader reads frames from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 16<<10)} }

// Read gives data. It fails with *Opened, with ErrClosed, or as the reader below does; it may go on after each of them.
func (r *Reader) Read(b []byte) (int, error) {
	for r.left == 0 {
		kind, err := r.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch kind {
		case padding:
		case data:
			if err := r.header(); err != nil {
				return 0, err
			}
		case opening:
			var o Opened
			if _, err := io.ReadFull(r.r, o.Nonce[:]); err != nil {
				return 0, err
			}
			return 0, &o
		case closing:
			return 0, ErrClosed
		default:
			return 0, errNoFrame
		}
	}
	n, err := r.r.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

func (r *Reader) header() error {
	var length [2]byte
	if _, err := io.ReadFull(r.r, length[:]); err != nil {
		return err
	}
	if r.left = int(binary.BigEndian.Uint16(length[:])); r.left > MaxData {
		r.left = 0
		return errNoFrame
	}
	return nil
}

// Skip reads over whatever there is, frames or not, until the answer to the opening.
func (r *Reader) Skip(nonce Nonce) error {
	r.left = 0
	want := mark(nonce)
	seen := make([]byte, 0, len(want))
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			return err
		}
		if len(seen) == len(want) {
			seen = append(seen[:0], seen[1:]...)
		}
		if seen = append(seen, c); bytes.Equal(seen, want) {
			return nil
		}
	}
}

// Writer writes frames, each with one write. It is not for several goroutines at once.
type Writer struct {
	w      io.Writer
	buffer []byte
}

// NewWriter writes frames to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends b in frames.
func (w *Writer) Write(b []byte) (sent int, err error) {
	for len(b) > 0 {
		part := b[:min(len(b), MaxData)]
		w.buffer = binary.BigEndian.AppendUint16(append(w.buffer[:0], data), uint16(len(part)))
		w.buffer = append(w.buffer, part...)
		if _, err := w.w.Write(w.buffer); err != nil {
			return sent, err
		}
		sent += len(part)
		b = b[len(part):]
	}
	return sent, nil
}

// Answer says that the opening was seen: what follows is of this line.
func (w *Writer) Answer(nonce Nonce) error {
	_, err := w.w.Write(mark(nonce))
	return err
}

// Close tells the other side that nothing more comes.
func (w *Writer) Close() error {
	_, err := w.w.Write([]byte{closing})
	return err
}
