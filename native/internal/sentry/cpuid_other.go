//go:build !amd64

package sentry

// LeaveCPUID does nothing: only amd64 has the instruction.
func LeaveCPUID() error { return nil }
