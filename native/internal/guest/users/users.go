// Package users finds out who a "name", "uid", "name:group" or "uid:gid" is in the sandbox. What it reads was written by
// code in the sandbox: every read is bounded and a broken line is skipped.
package users

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	maxFileBytes = 1 << 20
	maxGroups    = 1024 // a process of Linux may have 65536, a sane account has a dozen
)

// User is an identity to start a process or touch a file with.
type User struct {
	Name   string // the number where the account has no name
	UID    uint32
	GID    uint32
	Groups []uint32
	Home   string
}

// UnknownError says which part of a user specification names nobody.
type UnknownError struct{ Kind, Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the sandbox has no %s %q (see /etc/passwd and /etc/group in it)", e.Kind, e.Name)
}

// Database is where accounts come from. Its files may be missing: numbers work all the same.
type Database struct{ Passwd, Group string }

// System is the sandbox's own.
var System = Database{Passwd: "/etc/passwd", Group: "/etc/group"}

func (d Database) lookup(spec string) (User, error) {
	if spec == "" {
		spec = "0"
	}
	name, group, hasGroup := strings.Cut(spec, ":")
	u, err := d.account(name)
	if err != nil {
		return User{}, err
	}
	if hasGroup {
		// As with Docker: an explicit group replaces the account's own and the supplementary ones.
		u.Groups = nil
		if u.GID, err = d.group(group); err != nil {
			return User{}, err
		}
		return u, nil
	}
	u.Groups = d.supplementary(u.Name, u.GID)
	return u, nil
}

// UserName and GroupName give the number where there is no name.
func (d Database) UserName(uid uint32) string  { return nameOf(d.Passwd, uid) }
func (d Database) GroupName(gid uint32) string { return nameOf(d.Group, gid) }

func (d Database) account(name string) (User, error) {
	number, isNumber := parseID(name)
	var found *User
	eachLine(d.Passwd, name, func(f []string) bool {
		if len(f) < 6 {
			return true
		}
		uid, ok := parseID(f[2])
		gid, ok2 := parseID(f[3])
		if !ok || !ok2 || (f[0] != name && !(isNumber && uid == number)) {
			return true
		}
		found = &User{Name: f[0], UID: uid, GID: gid, Home: f[5]}
		return false
	})
	if found != nil {
		if found.Home == "" {
			found.Home = "/"
		}
		return *found, nil
	}
	if !isNumber {
		return User{}, &UnknownError{"user", name}
	}
	home := "/"
	if number == 0 {
		home = "/root"
	}
	return User{Name: name, UID: number, Home: home}, nil
}

func (d Database) group(name string) (uint32, error) {
	gid, found := uint32(0), false
	eachLine(d.Group, name, func(f []string) bool {
		if len(f) >= 3 && f[0] == name {
			gid, found = parseID(f[2])
		}
		return !found
	})
	if found {
		return gid, nil
	}
	if number, ok := parseID(name); ok {
		return number, nil
	}
	return 0, &UnknownError{"group", name}
}

func (d Database) supplementary(name string, own uint32) []uint32 {
	groups := []uint32{own}
	eachLine(d.Group, name, func(f []string) bool {
		if len(f) < 4 || !slices.Contains(strings.Split(f[3], ","), name) {
			return true
		}
		if gid, ok := parseID(f[2]); ok && !slices.Contains(groups, gid) {
			groups = append(groups, gid)
		}
		return len(groups) < maxGroups
	})
	return groups
}

func nameOf(path string, id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	name := number
	eachLine(path, number, func(f []string) bool {
		if len(f) < 3 {
			return true
		}
		if n, ok := parseID(f[2]); ok && n == id && f[0] != "" {
			name = f[0]
			return false
		}
		return true
	})
	return name
}

func parseID(s string) (uint32, bool) {
	// The highest number means "no change" to setuid and chown.
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil && n != 1<<32-1
}

// eachLine calls `use` with the fields of each line that has `about` in it, until it returns false.
func eachLine(path, about string, use func(fields []string) bool) {
	// Without O_NONBLOCK a FIFO in the place of the file would hold the caller for ever.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	lines := bufio.NewScanner(io.LimitReader(f, maxFileBytes))
	lines.Buffer(make([]byte, 0, 1024), maxFileBytes)
	for lines.Scan() {
		line := bytes.TrimRight(lines.Bytes(), "\r")
		if len(line) == 0 || line[0] == '#' || !bytes.Contains(line, []byte(about)) {
			continue
		}
		if !use(strings.Split(string(line), ":")) {
			return
		}
	}
}
