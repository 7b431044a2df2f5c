// Package seal keeps secrets at rest: AES-256-GCM under keys of a file, so that
// whoever reads the state and not the file learns nothing.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	keySize = 32
	idSize  = 8
	// maxFile bounds the key file, in bytes.
	maxFile = 4 << 10
)

// Box seals with the first of its keys, and opens what any of them has sealed.
// It prints as nothing that tells a key.
type Box struct{ keys []key }

// key is one key; its id is in what it has sealed.
type key struct {
	id   [idSize]byte
	aead cipher.AEAD
}

// Load reads a file that holds one key of 32 bytes as it is, or some in base64,
// one a line: the first seals, and the others open what they have sealed before.
func Load(file string) (*Box, error) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, wrong(file, "cannot be read")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, wrong(file, "cannot be read")
	}
	if len(data) == keySize {
		return newBox(file, data)
	}
	var keys [][]byte
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		raw := make([]byte, base64.StdEncoding.DecodedLen(len(line)))
		n, err := base64.StdEncoding.Decode(raw, line)
		if err != nil || n != keySize {
			return nil, wrong(file, "does not hold keys of 32 bytes")
		}
		keys = append(keys, raw[:n])
	}
	if len(keys) == 0 {
		return nil, wrong(file, "is empty")
	}
	return newBox(file, keys...)
}

func wrong(file, what string) error {
	return fault.New(fault.Invalid, "the key file %s %s", file, what).
		WithFix("Make one that only Fairlead may read: (umask 077; head -c 32 /dev/urandom | base64 > %s)", file)
}

func newBox(file string, raw ...[]byte) (*Box, error) {
	b := &Box{}
	for _, r := range raw {
		block, err := aes.NewCipher(r)
		if err != nil {
			return nil, wrong(file, "does not hold keys of 32 bytes")
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("fairlead seal key\x00"), r...))
		b.keys = append(b.keys, key{id: [idSize]byte(sum[:idSize]), aead: aead})
	}
	return b, nil
}

// String says what it is.
func (*Box) String() string { return "[keys]" }

// GoString is String.
func (*Box) GoString() string { return "[keys]" }

// Seal seals a text; it can be opened for the same purpose alone.
func (b *Box) Seal(plain []byte, purpose string) []byte {
	k := b.keys[0]
	out := append([]byte{}, k.id[:]...)
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // documented never to fail
	out = append(out, nonce...)
	return k.aead.Seal(out, nonce, plain, k.bound(purpose))
}

// Open opens what was sealed. Faults: failed_precondition (another key, another
// purpose, or changed bytes).
func (b *Box) Open(sealed []byte, purpose string) ([]byte, error) {
	for _, k := range b.keys {
		rest, ours := bytes.CutPrefix(sealed, k.id[:])
		if !ours || len(rest) < k.aead.NonceSize() {
			continue
		}
		nonce, text := rest[:k.aead.NonceSize()], rest[k.aead.NonceSize():]
		if plain, err := k.aead.Open(nil, nonce, text, k.bound(purpose)); err == nil {
			return plain, nil
		}
	}
	return nil, fault.New(fault.FailedPrecondition, "what is kept was sealed with a key that is not in the key file, or has been changed").
		WithFix("Put the key back as a further line of the key file.")
}

// bound is what a sealed text is bound to.
func (k *key) bound(purpose string) []byte { return fmt.Appendf(nil, "%x\x00%s", k.id, purpose) }
