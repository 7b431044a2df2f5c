package yamldoc

import (
	"unicode/utf8"
)

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decode makes UTF-8 of any bytes, with U+FFFD for each maximal part that is
// no character.
func decode(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			n = brokenLength(data)
		}
		out = utf8.AppendRune(out, r)
		data = data[n:]
	}
	return out
}

// brokenLength is how many bytes at the start of data are one broken character:
// the longest beginning of a character that could have been.
func brokenLength(data []byte) int {
	want, low, high := leadByte(data[0])
	n := 1
	for n < want && n < len(data) && data[n] >= low && data[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

// leadByte is how long a character is that starts with c and which bytes may
// come second.
func leadByte(c byte) (length int, low, high byte) {
	switch {
	case c >= 0xc2 && c <= 0xdf:
		return 2, 0x80, 0xbf
	case c == 0xe0:
		return 3, 0xa0, 0xbf
	case c == 0xed:
		return 3, 0x80, 0x9f
	case c >= 0xe1 && c <= 0xef:
		return 3, 0x80, 0xbf
	case c == 0xf0:
		return 4, 0x90, 0xbf
	case c == 0xf4:
		return 4, 0x80, 0x8f
	case c >= 0xf1 && c <= 0xf3:
		return 4, 0x80, 0xbf
	}
	return 1, 0, 0
}
