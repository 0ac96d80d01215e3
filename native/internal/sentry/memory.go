package sentry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// memoryFile is what the sentry calls the file that holds all memory of its sandbox (memfileName in runsc/boot/loader.go).
const memoryFile = "/memfd:runsc-memory"

// OpenMemory opens the file that holds the sandbox's memory, if the process is a sentry: nil if it is none, or has ended.
func OpenMemory(pid int) *os.File {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if !isMemory(link) {
			continue
		}
		file, err := os.OpenFile(link, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		// The number may have become another file's in between, and of this one everything may be freed.
		if isMemory(fmt.Sprintf("/proc/self/fd/%d", file.Fd())) {
			return file
		}
		_ = file.Close()
	}
	return nil
}

func isMemory(link string) bool {
	target, err := os.Readlink(link)
	return err == nil && strings.HasPrefix(target, memoryFile)
}
