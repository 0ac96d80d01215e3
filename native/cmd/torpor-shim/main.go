// torpor-shim is the parent of one runtime on the host: it outlives the daemon, starts or restores the runtime, keeps its
// exit record, carries the line to its guest, hashes and verifies checkpoints, and frees what the runtime held.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/host"
	"torpor.dev/torpor/native/internal/shim"
)

const usage = `usage: torpor-shim serve DATA    be the shim of a runtime of the data directory DATA; a line of stdin names
                                 the runtime's own directory, with runtime.json in it
       torpor-shim destroy DIR   free a runtime whose shim is gone
       torpor-shim compare DATA  tell how two trees differ, as JSON a line; a line of stdin names them, and its end
                                 ends the work
       torpor-shim trim POOL FILE BYTES
                                 give blocks that are free in the pool and not in its FILE back to the host, until at
                                 most BYTES are left; print how many are, and end with stdin
       torpor-shim hash FILE…    print the hash that a checkpoint's manifest has for a file
`

// Set on the second start, in a mount namespace of its own.
const inNamespace = "TORPOR_SHIM_NAMESPACE"

func main() {
	debug.SetGCPercent(25) // one shim a sandbox: small beats quick
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "serve":
		err = serve(args[1])
	case len(args) == 2 && args[0] == "destroy":
		err = shim.Destroy(args[1])
	case len(args) == 2 && args[0] == "compare":
		err = compareTrees(args[1])
	case len(args) == 4 && args[0] == "trim":
		err = trimPool(args[1], args[2], args[3])
	case len(args) > 1 && args[0] == "hash":
		err = hash(args[1:])
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "torpor-shim:", err)
		os.Exit(1)
	}
}

// ownNamespace starts the program again in a mount namespace of its own: whatever happens to it, its mounts go with it
// and the host never sees them. unshare(2) moves one thread only, hence the second start.
func ownNamespace(dataDirectory string) error {
	if os.Getenv(inNamespace) == "" {
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("make a mount namespace: %w", err)
		}
		// Mounts of the host still appear and go here, ours don't there.
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return err
		}
		return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), inNamespace+"=1"))
	}
	return host.DropForeignMounts(dataDirectory)
}

// serve waits to be told which runtime is its own, so that the daemon can have one ready before it needs it.
func serve(dataDirectory string) error {
	if err := ownNamespace(dataDirectory); err != nil {
		return err
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return nil // the daemon ended before it needed this one
	}
	dir := strings.TrimSuffix(line, "\n")
	if err := logTo(dir + "/shim.log"); err != nil {
		return err
	}
	return shim.Serve(dir, func() {
		// The daemon waits on descriptor 3 for the socket to be there.
		ready := os.NewFile(3, "ready")
		_, _ = ready.Write([]byte("ready\n"))
		_ = ready.Close()
	})
}

func logTo(path string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	return errors.Join(unix.Dup3(int(null.Fd()), 0, 0), unix.Dup3(int(log.Fd()), 1, 0), unix.Dup3(int(log.Fd()), 2, 0))
}

func hash(paths []string) error {
	for _, path := range paths {
		sum, size, err := checksum.File(path)
		if err != nil {
			return err
		}
		fmt.Printf("%s %d %s\n", sum, size, path)
	}
	return nil
}
