// Package selfline is what the command torpor in a sandbox and its guest say to each other: a line of JSON each. It is apart from the guest, so
// that the command is small.
package selfline

import "encoding/json"

// SocketPath is open to every process of the sandbox: what the sandbox may do to itself, all of it may.
const SocketPath = "/run/torpor/self.sock"

// Request is a line that a process sends.
type Request struct {
	Verb    string          `json:"verb"`
	Options json.RawMessage `json:"options,omitempty"`
}

// Answer is the line that it gets.
type Answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// Failure is an error of the daemon's catalogue.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Failed is the answer that tells of one.
func Failed(code, message string) Answer {
	return Answer{Error: &Failure{Code: code, Message: message}}
}
