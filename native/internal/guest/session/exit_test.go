package session

import (
	"syscall"
	"testing"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

func TestRecordsTheCauseOfAnEnd(t *testing.T) {
	const killed, code137, code0 = syscall.WaitStatus(9), syscall.WaitStatus(137 << 8), syscall.WaitStatus(0)
	sent := map[syscall.Signal]bool{syscall.SIGKILL: true}
	for _, x := range []struct {
		status syscall.WaitStatus
		cause  cause
		reason guestv1.EndReason
		code   uint32
		oom    bool
	}{
		{code0, cause{}, guestv1.EndReason_END_REASON_EXITED, 0, false},
		{killed, cause{}, guestv1.EndReason_END_REASON_EXITED, 137, false},
		{killed, cause{signals: sent}, guestv1.EndReason_END_REASON_KILLED, 137, false},
		{code0, cause{signals: sent}, guestv1.EndReason_END_REASON_EXITED, 0, false},
		{killed, cause{removed: true}, guestv1.EndReason_END_REASON_KILLED, 137, false},
		{killed, cause{timeout: true, signals: sent}, guestv1.EndReason_END_REASON_TIMEOUT, 137, false},
		{killed, cause{oom: true}, guestv1.EndReason_END_REASON_OOM, 137, true},
		{code137, cause{oom: true}, guestv1.EndReason_END_REASON_OOM, 137, true},
		{code0, cause{oom: true}, guestv1.EndReason_END_REASON_EXITED, 0, false},
		{code0, cause{stopped: true}, guestv1.EndReason_END_REASON_STOPPED, 0, false},
		{killed, cause{stopped: true, signals: sent}, guestv1.EndReason_END_REASON_STOPPED, 137, false},
		{killed, cause{stopped: true, timeout: true}, guestv1.EndReason_END_REASON_TIMEOUT, 137, false},
		{killed, cause{stopped: true, oom: true}, guestv1.EndReason_END_REASON_OOM, 137, true},
	} {
		if end := endOf(x.status, x.cause, 1); end.GetReason() != x.reason || end.GetExitCode() != x.code || end.GetOom() != x.oom {
			t.Errorf("%v %+v: %v", x.status, x.cause, end)
		}
	}
}

func TestKnowsSignals(t *testing.T) {
	for _, name := range []string{"TERM", "SIGTERM", "term", "15"} {
		if s, err := parseSignal(name); err != nil || s != syscall.SIGTERM {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	for _, name := range []string{"", "0", "-1", "99", "SIGNOPE"} {
		if _, err := parseSignal(name); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}
