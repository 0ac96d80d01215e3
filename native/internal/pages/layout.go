package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

const pageBytes = 4 << 10

// Range is a stretch of a sandbox's memory, in bytes of the file that holds it.
type Range struct{ Start, End int64 }

func (r Range) length() int64 { return r.End - r.Start }

// Layout says which stretches of the memory a checkpoint has, in the order of its pages file, in which they follow each other.
type Layout []Range

// Size is that of the pages file, in bytes.
func (l Layout) Size() (sum int64) {
	for _, r := range l {
		sum += r.length()
	}
	return sum
}

// Has says whether the byte of the memory is in the checkpoint.
func (l Layout) Has(at int64) bool {
	i := l.search(at)
	return i < len(l) && l[i].Start <= at
}

// search gives the first range that ends behind the byte of the memory.
func (l Layout) search(at int64) int {
	i, _ := slices.BinarySearchFunc(l, at, func(r Range, at int64) int {
		if r.End <= at {
			return -1
		}
		return 1
	})
	return i
}

// ReadLayout reads what the engine writes beside the pages: the length of a MemoryFileMetadataProto of version 1, the message, and a list of other
// memories, which has to be empty (pkg/sentry/pgalloc/save_restore.go, pgalloc_metadata.proto, and savePrivateMFs in pkg/sentry/kernel/kernel.go).
func ReadLayout(path string) (Layout, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	layout, err := parseLayout(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not as this version of the engine writes it: %w", path, err)
	}
	return layout, nil
}

// The object of the engine's that lists other memories, without any, in the encoding of pkg/state.
const noOtherMemories = "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01\x11+pkg/sentry/kernel.privateMemoryFileMetadata\x01\x06owners\x02\x01\v\x01\x05"

var errCut = errors.New("it is cut off")

func parseLayout(data []byte) (Layout, error) {
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data)-8) {
		return nil, errCut
	}
	end := 8 + binary.LittleEndian.Uint64(data)
	if others := string(data[end:]); others != noOtherMemories {
		return nil, fmt.Errorf("there is other memory: %.200q", others)
	}
	var layout Layout
	version := uint64(0)
	err := eachField(data[8:end], func(number protowire.Number, value uint64, nested []byte) error {
		switch number {
		case 1:
			version = value
		case 3: // mem_acct
			return layout.add(nested)
		}
		return nil
	})
	if err == nil && version != 1 {
		err = fmt.Errorf("it has version %d", version)
	}
	return layout, err
}

// add takes a MemAcctRangeProto. What is not committed has no page in the file.
func (l *Layout) add(message []byte) error {
	var start, end uint64
	committed := false
	err := eachField(message, func(number protowire.Number, value uint64, _ []byte) error {
		switch number {
		case 1:
			start = value
		case 2:
			end = value
		case 5: // known_committed
			committed = value != 0
		}
		return nil
	})
	if err != nil || !committed {
		return err
	}
	r := Range{int64(start), int64(end)}
	last := len(*l) - 1
	switch {
	case r.Start < 0 || r.End <= r.Start || r.Start%pageBytes != 0 || r.End%pageBytes != 0 || last >= 0 && r.Start < (*l)[last].End:
		return fmt.Errorf("%d to %d is no stretch of memory behind the one before it", start, end)
	case last >= 0 && r.Start == (*l)[last].End:
		(*l)[last].End = r.End
	default:
		*l = append(*l, r)
	}
	return nil
}

// eachField goes through a message: of numbers it gives the value, of what is nested the bytes.
func eachField(message []byte, see func(number protowire.Number, value uint64, nested []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errCut
		}
		message = message[n:]
		var value uint64
		var nested []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			nested, n = protowire.ConsumeBytes(message)
		default:
			return fmt.Errorf("field %d has the wire type %d", number, kind)
		}
		if n < 0 {
			return errCut
		}
		message = message[n:]
		if err := see(number, value, nested); err != nil {
			return err
		}
	}
	return nil
}
