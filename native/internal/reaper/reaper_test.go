package reaper

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

// One for all the tests: a second one in the same process would take the children of the first, and the first theirs.
var shared = sync.OnceValue(New)

func TestHandsEachStatusToItsOwner(t *testing.T) {
	r := shared()
	var wg sync.WaitGroup
	for code := range 40 {
		wg.Add(1)
		go func() {
			got := make(chan int, 2)
			_, err := r.Start(func() (int, error) {
				return syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit " + string(rune('0'+code%10))}, &syscall.ProcAttr{})
			}, func(s syscall.WaitStatus) { got <- s.ExitStatus() })
			if err != nil {
				t.Error(err)
				wg.Done()
				return
			}
			select {
			case c := <-got:
				if c != code%10 {
					t.Errorf("%d, not %d", c, code%10)
				}
			case <-time.After(time.Minute):
				t.Error("no status")
			}
			wg.Done()
		}()
	}
	wg.Wait()
	if len(r.owners) != 0 || len(r.unclaimed) != 0 {
		t.Errorf("left: %v %v", r.owners, r.unclaimed)
	}
}

func TestKeepsTheStatusOfAChildThatEndsBeforeItsPidIsKnown(t *testing.T) {
	r := shared()
	reaped := r.Reaped()
	got := make(chan int, 1)
	overdue := time.After(time.Minute)
	_, err := r.Start(func() (int, error) {
		pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit 5"}, &syscall.ProcAttr{})
		select {
		case <-reaped:
		case <-overdue:
			t.Error("not reaped")
		}
		return pid, err
	}, func(s syscall.WaitStatus) { got <- s.ExitStatus() })
	if err != nil {
		t.Fatal(err)
	}
	select {
	case c := <-got:
		if c != 5 {
			t.Errorf("%d, not 5", c)
		}
	case <-overdue:
		t.Error("no status")
	}
}
