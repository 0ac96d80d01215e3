package pages

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// account is what the engine says of a stretch of memory.
type account struct {
	start, end uint64
	committed  bool
}

// described is a description as the engine writes it.
func described(version uint64, accounts []account, others string) []byte {
	number := func(message []byte, field protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(message, field, protowire.VarintType), value)
	}
	nested := func(message []byte, field protowire.Number, inner []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(message, field, protowire.BytesType), inner)
	}
	message := number(nil, 1, version)
	message = nested(message, 2, number(nil, 1, 1)) // a chunk
	for _, a := range accounts {
		inner := number(number(number(nil, 1, a.start), 2, a.end), 3, 7)
		if a.committed {
			inner = number(inner, 5, 1)
		}
		message = nested(message, 3, inner)
	}
	message = nested(message, 8, number(number(nil, 1, 5), 2, 6)) // an entry of a map
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(message))), message...), others...)
}

func TestTheLayoutHasWhatIsCommitted(t *testing.T) {
	data := described(1, []account{{0, 8192, true}, {8192, 12288, true}, {12288, 20480, false}, {20480, 24576, true}}, noOtherMemories)
	path := filepath.Join(t.TempDir(), "description")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	layout, err := ReadLayout(path)
	if want := (Layout{{0, 12288}, {20480, 24576}}); err != nil || !slices.Equal(layout, want) {
		t.Fatalf("got %v, %v, want %v", layout, err, want)
	}
	if layout.Size() != 16384 {
		t.Errorf("its size is %d", layout.Size())
	}
	for at, want := range map[int64]bool{0: true, 12287: true, 12288: false, 20479: false, 20480: true, 24576: false} {
		if layout.Has(at) != want {
			t.Errorf("that it has byte %d is not %v", at, want)
		}
	}
}

func TestADescriptionOfAnotherKindIsRefusedWithWhatIsOther(t *testing.T) {
	whole := described(1, []account{{0, 4096, true}}, noOtherMemories)
	for cause, data := range map[string][]byte{
		"cut off":                      whole[:7],
		"is cut off":                   whole[:20],
		"there is other memory":        append(slices.Clone(whole), 0),
		"other memory":                 described(1, nil, ""),
		"version 2":                    described(2, nil, noOtherMemories),
		"version 0":                    described(0, nil, noOtherMemories),
		"4096 to 4096 is no stretch":   described(1, []account{{4096, 4096, true}}, noOtherMemories),
		"8192 to 4096 is no stretch":   described(1, []account{{8192, 4096, true}}, noOtherMemories),
		"1 to 4096 is no stretch":      described(1, []account{{1, 4096, true}}, noOtherMemories),
		"0 to 8193 is no stretch":      described(1, []account{{0, 8193, true}}, noOtherMemories),
		"0 to 8192 is no stretch":      described(1, []account{{4096, 8192, true}, {0, 8192, true}}, noOtherMemories),
		"9223372036854775808 to 4096 ": described(1, []account{{1 << 63, 4096, true}}, noOtherMemories),
	} {
		if _, err := parseLayout(data); err == nil || !strings.Contains(err.Error(), cause) {
			t.Errorf("%q: got %v", cause, err)
		}
	}
	// Every cut of it, and every flipped byte, is an error or a layout, and never a panic.
	for i := range whole {
		_, _ = parseLayout(whole[:i])
		flipped := slices.Clone(whole)
		flipped[i] ^= 0xff
		_, _ = parseLayout(flipped)
	}
}
