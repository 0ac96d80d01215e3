package shim

import (
	"os"
	"path/filepath"
	"testing"
)

// The root of the hierarchy holds every process of the host: a release of such a runtime would kill them all.
func TestAConfigWithoutAControlGroupOfItsOwnIsRefused(t *testing.T) {
	for _, cgroup := range []string{"", "/", ".", "/torpor-0123abcd", "/torpor-0123abcd/..", "/torpor-0123abcd/rt_aaaaaaaaaaaaaaaa/..", "/system.slice"} {
		path := filepath.Join(t.TempDir(), "runtime.json")
		if err := writeJSON(path, Config{Engine: []string{"runsc"}, ContainerID: "x", Cgroup: cgroup}); err != nil {
			t.Fatal(err)
		}
		if _, err := readConfig(path); err == nil {
			t.Errorf("%q was taken", cgroup)
		}
	}
}

func TestAConfigOfARuntimeIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runtime.json")
	if err := writeJSON(path, Config{Engine: []string{"runsc"}, ContainerID: "x", Cgroup: "/torpor-0123abcd/rt_aaaaaaaaaaaaaaaa"}); err != nil {
		t.Fatal(err)
	}
	if _, err := readConfig(path); err != nil {
		t.Error(err)
	}
}

func TestADirectoryWithoutAWholeDescriptionIsRemoved(t *testing.T) {
	for _, description := range []string{"", "{", "{}"} {
		path := filepath.Join(t.TempDir(), "0123abcd", "rt_aaaaaaaaaaaaaaaa")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "runtime.json"), []byte(description), 0o600); err != nil {
			t.Fatal(err)
		}
		isRemoved(t, path)
	}
	path := filepath.Join(t.TempDir(), "0123abcd", "rt_aaaaaaaaaaaaaaaa")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	isRemoved(t, path)
}

func isRemoved(t *testing.T, path string) {
	t.Helper()
	if err := Destroy(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
}
