package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"

	"torpor.dev/torpor/native/internal/compare"
)

// compareTrees says what it found, or why it could not, on stdout: an answer that breaks off has neither. It ends with stdin, so that a daemon
// that is killed leaves nothing.
func compareTrees(dataDirectory string) error {
	if err := ownNamespace(dataDirectory); err != nil {
		return err
	}
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var request compare.Request
	if err := json.Unmarshal(line, &request); err != nil {
		return err
	}
	endWith(input)
	return compare.Run(request, os.Stdout)
}

// endWith ends the program when the input ends.
func endWith(input io.Reader) {
	go func() {
		_, _ = io.Copy(io.Discard, input)
		os.Exit(1)
	}()
}
