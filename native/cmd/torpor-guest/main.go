// Command torpor-guest is PID 1 of a sandbox.
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
	case "version":
		fmt.Println(guest.Version)
	default:
		fmt.Fprintln(os.Stderr, "usage: torpor-guest init | version")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "torpor-guest %s: %v\n", command, err)
		os.Exit(1)
	}
}
