package objects

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxLooseHeader bounds "commit 18446744073709551615\x00".
const maxLooseHeader = 32

// readLoose reads an object from a file of its own; fs.ErrNotExist where
// there is none.
func readLoose(dir string, id ID, limit int64) (Kind, []byte, error) {
	name := id.String()
	f, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil, fs.ErrNotExist
		}
		return 0, nil, err
	}
	defer f.Close()
	z := inflaters.Get().(*inflater)
	defer z.release()
	z.seek(f, 0, 1<<62)
	if err := z.start(); err != nil {
		return 0, nil, err
	}
	kind, size, err := looseHeader(z)
	if err != nil {
		return 0, nil, err
	}
	if size > limit {
		return kind, nil, &TooLargeError{ID: id, Size: size, Limit: limit}
	}
	data, err := z.full(size)
	return kind, data, err
}

func looseHeader(z *inflater) (Kind, int64, error) {
	var head [maxLooseHeader]byte
	for i := range head {
		if n, err := z.out.Read(head[i : i+1]); n == 0 {
			return 0, 0, corrupt("header: %v", err)
		}
		if head[i] != 0 {
			continue
		}
		word, digits, _ := strings.Cut(string(head[:i]), " ")
		size, err := strconv.ParseInt(digits, 10, 64)
		kind := kindOf(word)
		if err != nil || size < 0 || kind == 0 {
			return 0, 0, corrupt("header %q", head[:i])
		}
		return kind, size, nil
	}
	return 0, 0, corrupt("header without an end")
}
