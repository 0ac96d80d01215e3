package users

import (
	"sync"

	"golang.org/x/sys/unix"
)

// remembered is the last answer: commands come one after the other for the same user, and to read both files anew takes
// a twentieth of a short one's time.
var remembered struct {
	mu     sync.Mutex
	db     Database
	spec   string
	stamps [2]stamp
	user   User
}

// stamp tells whether a file is as it was.
type stamp struct {
	device, inode  uint64
	size           int64
	written, moved unix.Timespec
}

func stampOf(path string) (s stamp) {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) == nil {
		s = stamp{uint64(stat.Dev), stat.Ino, stat.Size, stat.Mtim, stat.Ctim}
	}
	return s
}

// Lookup resolves a specification. Empty is root.
func (d Database) Lookup(spec string) (User, error) {
	stamps := [2]stamp{stampOf(d.Passwd), stampOf(d.Group)} // before the files are read: one that changes then is read again
	r := &remembered
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.db == d && r.spec == spec && r.stamps == stamps && r.user.Home != "" {
		return r.user, nil
	}
	user, err := d.lookup(spec)
	if err == nil {
		r.db, r.spec, r.stamps, r.user = d, spec, stamps, user
	}
	return user, err
}
