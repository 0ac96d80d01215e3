package shim

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A status that carried the hold was read after the end of the hold that had overtaken it, and the daemon showed it as held for ever.
func TestHoldIsToldBeforeTheStatusInTheOrderOfChanges(t *testing.T) {
	r := &Runtime{dir: dir(t.TempDir()), state: state{Phase: "live", Hold: &Hold{Since: time.Unix(0, 0).UTC(), FreeBytes: 7}}}
	s := &server{runtime: r, peers: map[*peer]struct{}{}}
	ours, theirs := net.Pipe()
	defer ours.Close()
	go s.talk(theirs)
	lines := bufio.NewScanner(ours)
	expect := func(part string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), part) {
			t.Fatalf("got %q, want %q", lines.Text(), part)
		}
	}
	fmt.Fprintln(ours, `{"id":1,"call":"status"}`)
	expect(`{"event":"held","result":{"since":"1970-01-01T00:00:00Z","freeBytes":7}}`)
	expect(`{"id":1,"result":{"state":"running"}}`)
	if err := r.recordHold(nil); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(ours, `{"id":2,"call":"status"}`)
	expect(`{"event":"held","result":null}`)
	expect(`"id":2`)
}
