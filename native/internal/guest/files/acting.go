package files

import (
	"runtime"

	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/users"
)

// as does file work with the rights of a user. For anyone but root it runs on a thread of its own, whose effective
// identity is the user's and which ends with the work. The real and the saved identity stay root's: so the user can
// neither signal nor trace the thread, which shares PID 1's memory. A helper process would be as safe, and cost two process starts.
func as(u users.User, do func() error) error {
	if u.UID == uint32(unix.Geteuid()) || unix.Geteuid() != 0 {
		return do()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the runtime ends the thread with the goroutine
		if err := become(u); err != nil {
			done <- err
			return
		}
		done <- do()
	}()
	return <-done
}

// become uses the bare calls, which act on the calling thread alone; the library's act on the whole process.
func become(u users.User) error {
	groups := make([]uint32, max(len(u.Groups), 1))
	copy(groups, u.Groups)
	if err := setgroups(groups[:len(u.Groups)], &groups[0]); err != nil {
		return err
	}
	const same = ^uintptr(0)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, same, uintptr(u.GID), same); e != 0 {
		return e
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(u.UID), same); e != 0 {
		return e
	}
	return nil
}
