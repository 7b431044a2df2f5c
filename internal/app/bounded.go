package app

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// maxConfig is the size in bytes up to which a configuration or a rules file
// is read.
const maxConfig = 4 << 20

// readBounded reads a file that somebody named: a device or a pipe could
// have no end, or never begin.
func readBounded(name string) ([]byte, error) {
	info, err := os.Stat(name) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name) //nolint:gosec // whoever starts the server names its files
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = fmt.Errorf("%s has more than %d MiB", name, maxConfig>>20)
	}
	return data, err
}

// printable leaves out what would act on a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}
