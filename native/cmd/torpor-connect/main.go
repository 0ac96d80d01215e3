// Command torpor-connect gives its stdio, pipes of the host, to PID 1 of the sandbox.
package main

import (
	"os"

	"torpor.dev/torpor/native/internal/connector"
)

func main() {
	if err := connector.Connect(connector.SocketPath, func(pid int) bool { return pid == 1 }, 0, 1); err != nil {
		os.Stderr.WriteString("torpor-connect: " + err.Error() + "\n")
		os.Exit(1)
	}
}
