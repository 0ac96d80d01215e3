package shim

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"torpor.dev/torpor/native/internal/launchline"
)

// answerPatience: a guest that does not take up its first line is asked by a connector. On a host that is overloaded an
// answer was seen to take a second.
const answerPatience = 5 * time.Second

// firstLine is the line by PID 1's own input and output: it costs no process inside, and PID 1 takes it up while the
// daemon still hears that the launch is done.
type firstLine struct {
	toGuest, fromGuest *os.File
	reader             *launchline.Reader
	answer             chan error
}

// newFirstLine opens the line before there is anybody at its other end, whose files are the caller's to close.
func newFirstLine() (line *firstLine, guestIn, guestOut *os.File, err error) {
	toGuest, fromGuest, guestIn, guestOut, err := newPipes()
	if err != nil {
		return nil, nil, nil, err
	}
	l := &firstLine{toGuest: toGuest, fromGuest: fromGuest, answer: make(chan error, 1)}
	l.reader = launchline.NewReader(l.fromGuest)
	var nonce launchline.Nonce
	_, _ = rand.Read(nonce[:]) // never fails
	if _, err := l.toGuest.Write(launchline.Opening(nonce)); err != nil {
		l.close()
		return nil, nil, nil, errors.Join(err, guestIn.Close(), guestOut.Close())
	}
	go func() { l.answer <- l.reader.Skip(nonce) }()
	return l, guestIn, guestOut, nil
}

// answered waits for PID 1, and gives the line up if it does not come although it was launched.
func (l *firstLine) answered(launched <-chan struct{}) bool {
	var err error
	select {
	case err = <-l.answer:
	case <-launched:
		select {
		case err = <-l.answer:
		case <-time.After(answerPatience):
			err = os.ErrDeadlineExceeded
		}
	}
	if err != nil {
		l.close()
	}
	return err == nil
}

// pump ends with the daemon's connection, when PID 1 was told of the end or did not listen for a second.
func (l *firstLine) pump(conn net.Conn) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		to := launchline.NewWriter(l.toGuest)
		_, _ = io.Copy(to, struct{ io.Reader }{conn}) // not by splice(2): it is framed
		_ = to.Close()
	}()
	_, _ = io.Copy(struct{ io.Writer }{conn}, l.reader)
	_ = conn.Close()
	_ = l.toGuest.SetWriteDeadline(time.Now().Add(time.Second))
	<-ended
}

// close leaves PID 1 with dead pipes; it has them until its sandbox ends or is restored from a checkpoint.
func (l *firstLine) close() {
	_ = l.toGuest.Close()
	_ = l.fromGuest.Close()
}
