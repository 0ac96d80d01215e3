package session

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

const (
	defaultTerm = "xterm-256color"
	// musl and the glibc of every distribution in use have it; where one does not, programs behave as without.
	defaultLang       = "C.UTF-8"
	defaultRows       = 24
	defaultColumns    = 80
	maxSide           = 1<<16 - 1
	endOfTransmission = 4 // ^D, the default VEOF
)

// openTerminal makes a pseudo-terminal with its size set, so that a program never sees another one.
func openTerminal(size *guestv1.Terminal, uid uint32) (master, replica int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(master)
		}
	}()
	if err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, -1, fmt.Errorf("unlock the terminal: %w", err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, -1, fmt.Errorf("number of the terminal: %w", err)
	}
	if err = resize(master, size.GetRows(), size.GetColumns()); err != nil {
		return -1, -1, fmt.Errorf("size of the terminal: %w", err)
	}
	replica, err = unix.Open(fmt.Sprintf("/dev/pts/%d", number), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open /dev/pts/%d: %w", number, err)
	}
	if os.Geteuid() == 0 && uid != 0 {
		_ = unix.Fchown(replica, int(uid), -1) // best effort: the descriptor itself works without
	}
	return master, replica, nil
}

func resize(fd int, rows, columns uint32) error {
	if rows == 0 {
		rows = defaultRows
	}
	if columns == 0 {
		columns = defaultColumns
	}
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(min(rows, maxSide)), Col: uint16(min(columns, maxSide))})
}
