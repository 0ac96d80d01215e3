package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"connectrpc.com/connect"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	codeNotExecutable = 126
	codeNotFound      = 127
)

// refuse is the error of a session that could not be started, with the code that a shell would give.
func refuse(code connect.Code, exitCode uint32, format string, args ...any) error {
	err := connect.NewError(code, fmt.Errorf(format, args...))
	if detail, e := connect.NewErrorDetail(&guestv1.SessionError{ExitCode: exitCode}); e == nil {
		err.AddDetail(detail)
	}
	return err
}

// findProgram looks argv[0] up as a shell does. A name with a slash is taken as it is.
func findProgram(name, path, workdir string) (string, error) {
	if name == "" {
		return "", refuse(connect.CodeNotFound, codeNotFound, "the program's name is empty")
	}
	if strings.ContainsRune(name, 0) {
		return "", refuse(connect.CodeInvalidArgument, codeNotFound, "the program's name holds a NUL byte")
	}
	if strings.Contains(name, "/") {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(workdir, full)
		}
		if err := executable(full); err != nil {
			return "", explain(name, err)
		}
		return full, nil
	}
	var denied error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(workdir, dir) // an empty element is the working directory
		}
		full := filepath.Join(dir, name)
		switch err := executable(full); {
		case err == nil:
			return full, nil
		case denied == nil && (errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EISDIR)):
			denied = explain(full, err)
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", refuse(connect.CodeNotFound, codeNotFound, "%s: no such program in PATH (%s)", name, path)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	case info.Mode()&0o111 == 0:
		return syscall.EACCES
	}
	return nil
}

// explain names the program and why it does not start.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		if executable(name) == nil {
			return refuse(connect.CodeNotFound, codeNotFound, "%s: its interpreter or loader is missing", name)
		}
		return refuse(connect.CodeNotFound, codeNotFound, "%s: no such file", name)
	case errors.Is(err, syscall.EISDIR):
		return refuse(connect.CodeFailedPrecondition, codeNotExecutable, "%s: is a directory", name)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return refuse(connect.CodePermissionDenied, codeNotExecutable, "%s: permission denied", name)
	case errors.Is(err, syscall.ENOEXEC):
		return refuse(connect.CodeFailedPrecondition, codeNotExecutable, "%s: not a program of this machine, nor a script with a #! line", name)
	case errors.Is(err, syscall.EAGAIN):
		return refuse(connect.CodeResourceExhausted, codeNotExecutable, "%s: the sandbox has as many processes as it may have", name)
	case errors.Is(err, syscall.E2BIG):
		return refuse(connect.CodeInvalidArgument, codeNotExecutable, "%s: arguments and environment are too long", name)
	}
	return refuse(connect.CodeFailedPrecondition, codeNotExecutable, "%s: %v", name, err)
}
