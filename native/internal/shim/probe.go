package shim

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// answerTime is generous: a start inside takes 10 ms.
	answerTime = 3 * time.Second
	// A start outside takes some 3 ms where one inside takes 10. On a busy host both take as many times longer.
	answerStarts = 100
	startsApart  = 10 * time.Millisecond
)

// findOutFrozen: the engine can't be asked whether its tasks are stopped, and a resume too many ends it. A program that is started
// in a stopped sandbox waits; in one that runs it says its version.
func (r *Runtime) findOutFrozen() bool {
	output, input, err := os.Pipe()
	if err != nil {
		return false
	}
	defer output.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer null.Close()
	if err := r.calls.Exec([]string{r.config.Guest, "version"}, []*os.File{null, input, null}); err != nil {
		return false // calls will say why
	}
	_ = input.Close()
	return staysSilent(output, answerTime, func() error {
		_, ended, err := r.engine.reaper.Start([]string{"/proc/self/exe"}, "/", nil, []*os.File{null, null, null})
		if err == nil {
			<-ended
		}
		return err
	})
}

// staysSilent says whether nothing comes, for so long at least, and for as long as the host needs to start programs: who is not heard on a host that is
// too busy may still be about to speak.
func staysSilent(answer *os.File, atLeast time.Duration, startOutside func() error) bool {
	deadline := time.Now().Add(atLeast)
	for starts := 0; starts < answerStarts || time.Now().Before(deadline); starts++ {
		if speaks(answer, startsApart) || startOutside() != nil {
			return false
		}
	}
	return true
}

func speaks(answer *os.File, within time.Duration) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(answer.Fd()), Events: unix.POLLIN}}, int(within.Milliseconds()))
	return n > 0 || err != nil && err != unix.EINTR
}
