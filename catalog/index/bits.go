package index

import "math/bits"

// bitset holds a set of entity numbers. Sets that meet in one operation have
// the same length.
type bitset []uint64

func newBitset(size uint32) bitset { return make(bitset, (size+63)/64) }

func (b bitset) set(i uint32)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) unset(i uint32)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) has(i uint32) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// grow copies the set, with room for at least size numbers.
func (b bitset) grow(size uint32) bitset {
	c := newBitset(size)
	copy(c, b)
	return c
}

func (b bitset) and(o bitset) {
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bitset) or(o bitset) {
	for i := range b {
		b[i] |= o[i]
	}
}

// invert makes b the complement within all.
func (b bitset) invert(all bitset) {
	for i := range b {
		b[i] = all[i] &^ b[i]
	}
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// among counts those of ids that are in the set.
func (b bitset) among(ids []uint32) int {
	n := 0
	for _, id := range ids {
		n += int(b[id>>6] >> (id & 63) & 1)
	}
	return n
}

// each calls f with every number in the set, ascending, until f says stop.
func (b bitset) each(f func(uint32) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if !f(uint32(i)<<6 + uint32(bits.TrailingZeros64(w))) { //nolint:gosec // sets hold numbers below 2³²
				return
			}
		}
	}
}
