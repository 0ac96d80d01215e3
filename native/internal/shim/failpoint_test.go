package shim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheTableHasExactlyTheFailpointsThatAreCalled(t *testing.T) {
	var called, listed []string
	sources, _ := filepath.Glob("*.go")
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`\bfailpoint\("([^"]+)"\)`).FindAllStringSubmatch(string(text), -1) {
			called = append(called, match[1])
		}
		// change() is told which of the two it makes.
		for _, match := range regexp.MustCompile(`r\.change\("([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			called = append(called, match[1]+".begun", match[1]+".called", match[1]+".done")
		}
	}
	for _, each := range failpoints {
		listed = append(listed, each.name)
	}
	slices.Sort(called)
	slices.Sort(listed)
	if !slices.Equal(called, listed) {
		t.Errorf("called %v, listed %v", called, listed)
	}
}

func TestAFailpointOfAnotherNameIsPassed(t *testing.T) {
	failpoint("launch.made")
	t.Setenv(failpointVariable, "launch.live")
	failpoint("launch.made")
	file := filepath.Join(t.TempDir(), "armed")
	t.Setenv(failpointVariable, file)
	failpoint("launch.made")
	if err := os.WriteFile(file, []byte("launch.live"), 0o600); err != nil {
		t.Fatal(err)
	}
	failpoint("launch.made")
	if _, err := os.Stat(file); err != nil {
		t.Error("the file was used up by a step of another name")
	}
}
