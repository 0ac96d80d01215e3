// torpor-shim is the parent of one runtime on the host: it outlives the daemon, starts or restores the runtime, keeps its
// exit record, carries the line to its guest, hashes and verifies checkpoints, and frees what the runtime held.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/shim"
)

const usage = `usage: torpor-shim serve DIR     be the shim of the runtime described by DIR/runtime.json
       torpor-shim destroy DIR   free a runtime whose shim is gone
       torpor-shim hash FILE…    print the hash that a checkpoint's manifest has for a file
`

// Set on the second start, in a mount namespace of its own.
const inNamespace = "TORPOR_SHIM_NAMESPACE"

func main() {
	debug.SetGCPercent(25) // one shim a sandbox: small beats quick
	if len(os.Args) < 3 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(os.Args[2])
	case "destroy":
		err = shim.Destroy(os.Args[2])
	case "hash":
		err = hash(os.Args[2:])
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "torpor-shim:", err)
		os.Exit(1)
	}
}

// serve starts itself again in a mount namespace of its own: whatever happens to it and the sandbox, their mounts go
// with them and the host never sees them. unshare(2) moves one thread only, hence the second start.
func serve(dir string) error {
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
	return shim.Serve(dir, func() {
		// The daemon waits on descriptor 3 for the socket to be there.
		ready := os.NewFile(3, "ready")
		_, _ = ready.Write([]byte("ready\n"))
		_ = ready.Close()
	})
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
