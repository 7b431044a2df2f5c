package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// sortKey stands for a change while sorting: the first bytes in which values
// differ tell most of them apart without looking at the values themselves.
type sortKey struct {
	head uint64
	i    uint32
}

// inOrder sorts changes by value, then uid, in place.
func inOrder(xs []change) {
	if len(xs) < 24 {
		slices.SortFunc(xs, compareChange)
		return
	}
	skip := commonPrefix(xs)
	keys := make([]sortKey, len(xs))
	sorted := true
	for i := range xs {
		keys[i] = sortKey{head(xs[i].value[skip:]), uint32(i)}
		sorted = sorted && (i == 0 || compareChange(xs[i-1], xs[i]) <= 0)
	}
	if sorted {
		return
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if c := cmp.Compare(a.head, b.head); c != 0 {
			return c
		}
		x, y := &xs[a.i], &xs[b.i]
		if c := strings.Compare(x.value[skip:], y.value[skip:]); c != 0 {
			return c
		}
		return cmp.Compare(x.order, y.order)
	})
	permute(xs, keys)
}

// permute puts xs into the order of keys, which it uses up.
func permute(xs []change, keys []sortKey) {
	for i := range keys {
		from := int(keys[i].i)
		if from == i {
			continue
		}
		first, to := xs[i], i
		for ; from != i; to, from = from, int(keys[from].i) {
			xs[to] = xs[from]
			keys[to].i = uint32(to)
		}
		xs[to] = first
		keys[to].i = uint32(to)
	}
}

// commonPrefix is the length of what all values begin with.
func commonPrefix(xs []change) int {
	first, n := xs[0].value, len(xs[0].value)
	for i := range xs {
		v := xs[i].value
		n = min(n, len(v))
		if v[:n] == first[:n] {
			continue
		}
		j := 0
		for v[j] == first[j] {
			j++
		}
		n = j
	}
	return n
}

// head is the first eight bytes, padded with zeros.
func head(s string) uint64 {
	if len(s) >= 8 {
		return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 | uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
