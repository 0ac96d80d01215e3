package shim

import (
	"testing"
	"time"

	"torpor.dev/torpor/native/internal/host"
)

const reserve = 240 << 20

func pool(written *int64, sharers int) *watch {
	return &watch{storage: host.Storage{ReserveBytes: reserve}, count: func() (int64, int) { return *written, sharers }}
}

func TestOneThatWritesIsStoppedBelowTheReserveAndGoesOnWellAboveIt(t *testing.T) {
	written := int64(1 << 30)
	w := pool(&written, 2)
	expect(t, w.decide(reserve, false), leaveIt)
	written += largestAllowance // what it wrote before that look does not count
	expect(t, w.decide(reserve-1, false), leaveIt)
	written++
	expect(t, w.decide(reserve-1, false), stopIt)
	expect(t, w.decide(reserve, true), leaveIt)
	expect(t, w.decide(reserve+reserve/2-1, true), leaveIt)
	expect(t, w.decide(reserve+reserve/2, true), letGo)
	written += 1 << 20
	expect(t, w.decide(reserve-1, false), leaveIt) // counted anew
}

func TestOneThatDoesNotWriteIsStoppedAtTheLastOfItAlone(t *testing.T) {
	written := int64(0)
	w := pool(&written, 1)
	expect(t, w.decide(reserve/2, false), leaveIt)
	expect(t, w.decide(reserve/12-1, false), stopIt)
	expect(t, w.decide(reserve/12, true), leaveIt)
	expect(t, w.decide(2*(reserve/12), true), letGo)
	expect(t, w.decide(reserve/4, false), leaveIt)
}

func TestAWriterIsNotLetGoWithThoseThatWereSpared(t *testing.T) {
	written := int64(0)
	w := pool(&written, 1)
	w.decide(reserve-1, false)
	written = 1 << 30
	expect(t, w.decide(0, false), stopIt)
	expect(t, w.decide(reserve/2, true), leaveIt)
}

func TestManyTogetherWriteAQuarterOfTheReserve(t *testing.T) {
	for _, sharers := range []int{0, 1, 15, 60, 240} {
		if all := allowance(reserve, sharers) * int64(sharers); all > reserve/4 {
			t.Errorf("%d sandboxes may write %d of %d bytes", sharers, all, reserve)
		}
	}
}

func TestItLooksBeforeTheReserveCanBeReached(t *testing.T) {
	w := pool(new(int64), 1)
	for room, want := range map[int64]time.Duration{
		0:                  shortestLook,
		reserve:            shortestLook,
		reserve + 8<<30:    time.Second,
		reserve + 1000<<30: longestLook,
	} {
		if got := w.untilNextLook(room, false); got != want {
			t.Errorf("with %d bytes it looks after %v, not %v", room, got, want)
		}
	}
	if got := w.untilNextLook(0, true); got != heldLook {
		t.Errorf("a held one looks after %v", got)
	}
}

func expect(t *testing.T, got, want decision) {
	t.Helper()
	if got != want {
		t.Fatalf("decided %d, not %d", got, want)
	}
}
