// Package ownprocess is for tests of what a process can't take back.
package ownprocess

import (
	"os"
	"os/exec"
	"testing"
)

// inside is set for the process that a test has to itself.
const inside = "TORPOR_TEST_OWN_PROCESS"

// Run has the test run in a process of its own, and fails it as that fails.
func Run(t *testing.T, test func()) {
	t.Helper()
	if os.Getenv(inside) != "" {
		test()
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), inside+"=1")
	if output, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
