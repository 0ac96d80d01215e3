package sentry

import "testing"

func TestWhatMayStillBeWrittenIsNotSettled(t *testing.T) {
	const queue = 32 << 20
	for size, settled := range map[int64]int64{0: 0, queue: 0, 2 * queue: 0, 2*queue + 1: 1, 16 * queue: 14 * queue} {
		if got := (Control{}).Settled(size); got != settled {
			t.Errorf("of %d bytes %d are settled, not %d", size, got, settled)
		}
	}
}
