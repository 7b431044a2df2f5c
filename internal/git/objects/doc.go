// Package objects reads Git objects from disk: loose ones, packs and
// alternates. It is built for servers that read other people's repositories:
// a size is known before memory is taken, every limit is an error, a database
// may be read from many goroutines at once, and opening a repository costs no
// more than looking at its pack directory.
package objects

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// ID is the SHA-1 name of an object.
type ID [20]byte

// String is the name in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero tells whether the ID names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// ParseID reads forty hexadecimal digits.
func ParseID(s string) (ID, bool) {
	var id ID
	if len(s) != 2*len(id) {
		return ID{}, false
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, false
	}
	return id, true
}

// Kind is what an object is; the numbers are those of the pack format.
type Kind uint8

// The kinds of objects.
const (
	Commit Kind = 1
	Tree   Kind = 2
	Blob   Kind = 3
	Tag    Kind = 4
)

const (
	offsetDelta Kind = 6
	refDelta    Kind = 7
)

// String is the word that Git uses.
func (k Kind) String() string {
	switch k {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	default:
		return fmt.Sprintf("object of type %d", uint8(k))
	}
}

func kindOf(word string) Kind {
	for k := Commit; k <= Tag; k++ {
		if k.String() == word {
			return k
		}
	}
	return 0
}

var (
	// ErrNotFound says that the database has no such object.
	ErrNotFound = errors.New("no such object")
	// ErrCorrupt says that what is stored is not what Git would store.
	ErrCorrupt = errors.New("corrupt Git object")
)

// TooLargeError says that an object exceeds the limit that the reader set.
type TooLargeError struct {
	// ID is the object.
	ID ID
	// Size and Limit in bytes; Size is of the object, or of the object that it
	// is stored as a difference from.
	Size, Limit int64
}

// Error names the sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("object %s takes %d bytes, more than the limit of %d", e.ID, e.Size, e.Limit)
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
