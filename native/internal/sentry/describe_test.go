package sentry

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A description of three committed pages, as the engine writes it.
const threePages = "\x08\x01\x1a\x07\x08\x00\x10\x80\x60\x28\x01"

const noOthers = "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01\x11+pkg/sentry/kernel.privateMemoryFileMetadata\x01\x06owners\x02\x01\v\x01\x05"

// fakeSentry takes checkpoints. With each it sets its clocks as often as the next of the numbers says.
func fakeSentry(t *testing.T, memory *os.File, description string, sets ...int) Control {
	t.Helper()
	control := At(t.TempDir(), "sandbox")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: control.socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for _, times := range sets {
			conn, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			message, rights := make([]byte, 4<<10), make([]byte, 1<<10)
			_, n, _, _, _ := conn.ReadMsgUnix(message, rights)
			parsed, _ := unix.ParseSocketControlMessage(rights[:n])
			descriptors, _ := unix.ParseUnixRights(&parsed[0])
			content := append(binary.LittleEndian.AppendUint64(nil, uint64(len(description))), description+noOthers...)
			_, _ = unix.Write(descriptors[1], content)
			_, _ = unix.Write(descriptors[2], make([]byte, 3*4096))
			for _, fd := range descriptors {
				_ = unix.Close(fd)
			}
			setClocks(memory, times)
			_ = json.NewEncoder(conn).Encode(map[string]any{"success": true})
			_ = conn.Close()
		}
	}()
	return control
}

func newMemory(t *testing.T) *os.File {
	t.Helper()
	memory, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	if err := memory.Truncate(1 << 20); err != nil {
		t.Fatal(err)
	}
	setClocks(memory, 5)
	return memory
}

func setClocks(memory *os.File, times int) {
	counter := make([]byte, 8)
	_, _ = memory.ReadAt(counter, clockAt)
	binary.LittleEndian.PutUint64(counter, binary.LittleEndian.Uint64(counter)+2*uint64(times))
	_, _ = memory.WriteAt(counter, clockAt)
}

func TestTheClocksAreDescribedAsTheyWereAtTheCheckpoint(t *testing.T) {
	memory, dir := newMemory(t), t.TempDir()
	described, err := fakeSentry(t, memory, threePages, 1).Describe(dir, true, memory)
	if err != nil || described.Layout.Size() != 3*4096 {
		t.Fatalf("got %+v, %v", described.Layout, err)
	}
	if got := counter(described.Kept); described.Kept.At != clockAt || got != 10 {
		t.Errorf("the counter is %d at %d", got, described.Kept.At)
	}
	if _, err := os.Stat(filepath.Join(dir, PagesFile)); !os.IsNotExist(err) {
		t.Errorf("there are pages: %v", err)
	}
}

func TestACheckpointIsTakenAgainWhileItIsUnknownWhatTheClocksWere(t *testing.T) {
	memory, dir := newMemory(t), t.TempDir()
	described, err := fakeSentry(t, memory, threePages, 2, 0, 1).Describe(dir, false, memory)
	if got := counter(described.Kept); err != nil || got != 14 {
		t.Errorf("the counter is %d: %v", got, err)
	}
	if _, err := fakeSentry(t, memory, threePages, 2, 2, 2).Describe(t.TempDir(), false, memory); !errors.Is(err, ErrClockMoved) {
		t.Errorf("got %v", err)
	}
}

func TestACheckpointThatCannotBeOfThisMemoryIsNotDescribed(t *testing.T) {
	memory := newMemory(t)
	for name, description := range map[string]string{
		"without the page of the clocks": "\x08\x01\x1a\x07\x08\x00\x10\x80\x20\x28\x01",
		"with more than there is":        "\x08\x01\x1a\x0a\x08\x00\x10\x80\x80\x80\x80\x80\x40\x28\x01",
		"of another version":             "\x08\x02",
	} {
		if _, err := fakeSentry(t, memory, description, 1).Describe(t.TempDir(), false, memory); err == nil {
			t.Error("one", name, "was described")
		}
	}
}

func TestADiscardedCheckpointLeavesOnlyWhatIsNotItsOwn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range append([]string{"other"}, checkpointFiles...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Discard(dir)
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left: %v", left)
	}
}
