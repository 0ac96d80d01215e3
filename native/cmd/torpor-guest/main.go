// Command torpor-guest is PID 1 of a sandbox and the connector to it.
package main

import (
	"fmt"
	"os"

	"torpor.dev/torpor/native/internal/guest"
)

func main() {
	command := ""
	if len(os.Args) == 2 {
		command = os.Args[1]
	}
	var err error
	switch command {
	case "init":
		err = guest.Init()
	case "connect":
		err = guest.Connect(guest.SocketPath, func(pid int) bool { return pid == 1 }, 0, 1)
	case "version":
		fmt.Println(guest.Version)
	default:
		fmt.Fprintln(os.Stderr, "usage: torpor-guest init | connect | version")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "torpor-guest %s: %v\n", command, err)
		os.Exit(1)
	}
}
