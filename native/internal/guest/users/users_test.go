package users

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func database(t *testing.T, passwd, group string) Database {
	t.Helper()
	dir := t.TempDir()
	d := Database{filepath.Join(dir, "passwd"), filepath.Join(dir, "group")}
	if os.WriteFile(d.Passwd, []byte(passwd), 0o644) != nil || os.WriteFile(d.Group, []byte(group), 0o644) != nil {
		t.Fatal("no files")
	}
	return d
}

func TestResolvesUsers(t *testing.T) {
	d := database(t, "# comment\nbroken\nroot:x:0:0::/root:/bin/sh\nann:x:1000:100:Ann:/home/ann:/bin/sh\nbad:x:-1:0::/:\n", "wheel:x:10:ann,bob\nusers:x:100:\nann:x:1000:x,ann\n")
	for spec, want := range map[string]User{
		"":          {Name: "root", Home: "/root", Groups: []uint32{0}},
		"ann":       {Name: "ann", UID: 1000, GID: 100, Home: "/home/ann", Groups: []uint32{100, 10, 1000}},
		"1000":      {Name: "ann", UID: 1000, GID: 100, Home: "/home/ann", Groups: []uint32{100, 10, 1000}},
		"ann:wheel": {Name: "ann", UID: 1000, GID: 10, Home: "/home/ann"},
		"ann:77":    {Name: "ann", UID: 1000, GID: 77, Home: "/home/ann"},
		"5:6":       {Name: "5", UID: 5, GID: 6, Home: "/"},
		"5":         {Name: "5", UID: 5, Home: "/", Groups: []uint32{0}},
	} {
		got, err := d.Lookup(spec)
		if err != nil || got.Name != want.Name || got.UID != want.UID || got.GID != want.GID || got.Home != want.Home || !slices.Equal(got.Groups, want.Groups) {
			t.Errorf("%q: %+v, %v", spec, got, err)
		}
	}
	for spec, name := range map[string]string{"nobody": "nobody", "ann:nogroup": "nogroup", "4294967295": "4294967295", "bad": "bad", ":": ""} {
		var unknown *UnknownError
		if _, err := d.Lookup(spec); !errors.As(err, &unknown) || unknown.Name != name {
			t.Errorf("%q: %v", spec, err)
		}
	}
	if d.UserName(1000) != "ann" || d.GroupName(10) != "wheel" || d.UserName(7) != "7" {
		t.Error("names")
	}
}

func TestOutlivesHostileFiles(t *testing.T) {
	d := database(t, strings.Repeat("x", 3<<20), "")
	if u, err := d.Lookup("0"); err != nil || u.Home != "/root" {
		t.Errorf("%+v, %v", u, err)
	}
	os.Remove(d.Passwd)
	if err := syscall.Mkfifo(d.Passwd, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lookup("0"); err != nil {
		t.Error(err)
	}
}

func TestAChangedFileIsReadAgain(t *testing.T) {
	d := database(t, "ann:x:1000:100::/home/ann:\n", "wheel:x:10:\n")
	for _, step := range []struct{ passwd, group string }{{"ann:x:1000:100::/home/ann:\n", "wheel:x:10:\n"}, {"ann:x:1001:100::/home/ann:\n", "wheel:x:10:\n"}, {"ann:x:1001:100::/home/ann:\n", "wheel:x:10:ann\n"}} {
		for path, text := range map[string]string{d.Passwd: step.passwd, d.Group: step.group} {
			// As programs that know what they do: another file in its place.
			if os.WriteFile(path+"-", []byte(text), 0o644) != nil || os.Rename(path+"-", path) != nil {
				t.Fatal("no files")
			}
		}
		for range 2 {
			got, err := d.Lookup("ann")
			if err != nil || got.UID != 1000+uint32(strings.Count(step.passwd, "1001")) || len(got.Groups) != 1+strings.Count(step.group, "ann") {
				t.Errorf("%+v: %+v, %v", step, got, err)
			}
		}
	}
}
