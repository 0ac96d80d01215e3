package session

import (
	"syscall"

	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// cause is what the guest itself did to a session. The first one that fits the way it ended is recorded.
type cause struct {
	timeout bool
	removed bool
	stopped bool                    // the sandbox is being stopped
	oom     bool                    // the memory watch killed a process of the session
	signals map[syscall.Signal]bool // sent by a Signal call
}

// endOf turns a wait status and what was done to the session into its end.
func endOf(status syscall.WaitStatus, c cause, nanos int64) *guestv1.End {
	end := &guestv1.End{Reason: guestv1.EndReason_END_REASON_EXITED, UnixNanos: nanos}
	if status.Signaled() {
		end.ExitCode = 128 + uint32(status.Signal())
		end.Signal = unix.SignalName(status.Signal())
	} else {
		end.ExitCode = uint32(status.ExitStatus())
	}
	killed := end.ExitCode == 128+uint32(unix.SIGKILL)
	switch {
	case c.timeout:
		end.Reason = guestv1.EndReason_END_REASON_TIMEOUT
	case c.removed && status.Signaled():
		end.Reason = guestv1.EndReason_END_REASON_KILLED
	case c.oom && killed:
		end.Reason, end.Oom = guestv1.EndReason_END_REASON_OOM, true
	case c.stopped:
		end.Reason = guestv1.EndReason_END_REASON_STOPPED
	case status.Signaled() && c.signals[status.Signal()]:
		end.Reason = guestv1.EndReason_END_REASON_KILLED
	}
	return end
}
