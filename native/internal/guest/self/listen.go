package self

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"torpor.dev/torpor/native/internal/selfline"
)

const (
	maxRequestBytes = 64 << 10
	// A process that connects sends its line at once.
	sendTime = 10 * time.Second
	// More connections at a time wait to be accepted.
	maxConnections = 2 * maxPending
)

// Listen takes requests at the path for the rest of the process.
func (t *Table) Listen(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		l.Close()
		return err
	}
	go t.serve(l)
	return nil
}

func (t *Table) serve(l net.Listener) {
	places := make(chan struct{}, maxConnections)
	for {
		places <- struct{}{}
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			t.talk(conn)
			<-places
		}()
	}
}

// talk answers one line with one line.
func (t *Table) talk(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(sendTime))
	line, err := bufio.NewReaderSize(io.LimitReader(conn, maxRequestBytes), 4<<10).ReadBytes('\n')
	if err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	var request selfline.Request
	answer := selfline.Failed("invalid_request", "the request is no JSON object with a verb")
	if json.Unmarshal(line, &request) == nil && request.Verb != "" {
		answer = t.Ask(whileOpen(conn), request)
	}
	_ = json.NewEncoder(conn).Encode(answer)
}

// whileOpen ends when the process on the other side does.
func whileOpen(conn net.Conn) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		cancel()
	}()
	return ctx
}
