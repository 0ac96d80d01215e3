package shim

import (
	"errors"
	"os"
	"testing"
)

func TestStaysSilentWaitsAsLongAsTheHostIsSlow(t *testing.T) {
	answer, speaker, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	defer speaker.Close()
	starts := 0
	startOutside := func() error { starts++; return nil }
	if !staysSilent(answer, 0, startOutside) || starts != answerStarts {
		t.Errorf("nothing came for %d starts", starts)
	}
	starts = 0
	speaksLate := func() error {
		if starts++; starts == answerStarts/2 {
			_, _ = speaker.WriteString("v")
		}
		return nil
	}
	if staysSilent(answer, 0, speaksLate) || starts != answerStarts/2 {
		t.Errorf("an answer after %d starts was not heard", starts)
	}
	if staysSilent(answer, 0, startOutside) {
		t.Error("an answer that lies there was not heard")
	}
	if staysSilent(answer, 0, func() error { return errors.New("no process can be made") }) {
		t.Error("a host that can start nothing tells nothing")
	}
}
