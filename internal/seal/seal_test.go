package seal_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/seal"
)

func keyFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func coded(b byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) + "\n"
}

func load(t *testing.T, text string) *seal.Box {
	t.Helper()
	b, err := seal.Load(keyFile(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatIsSealedIsOpened(t *testing.T) {
	old, raw := load(t, coded('o')), load(t, strings.Repeat("o", 32))
	sealed := old.Seal([]byte("gto_secret"), "ada tea")
	if bytes.Contains(sealed, []byte("secret")) || bytes.Equal(sealed, old.Seal([]byte("gto_secret"), "ada tea")) {
		t.Errorf("sealed: %q", sealed)
	}
	for name, b := range map[string]*seal.Box{"the same": old, "raw": raw, "a newer key before it": load(t, coded('n')+coded('o'))} {
		if got, err := b.Open(sealed, "ada tea"); string(got) != "gto_secret" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, try := range map[string]func() ([]byte, error){
		"another person": func() ([]byte, error) { return old.Open(sealed, "eve tea") },
		"another key":    func() ([]byte, error) { return load(t, coded('x')).Open(sealed, "ada tea") },
		"changed":        func() ([]byte, error) { return old.Open(changed, "ada tea") },
		"cut":            func() ([]byte, error) { return old.Open(sealed[:12], "ada tea") },
		"nothing":        func() ([]byte, error) { return old.Open(nil, "ada tea") },
	} {
		if got, err := try(); fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", old, old, old, old); strings.Contains(text, "oooo") || strings.Contains(text, "111") {
		t.Errorf("it prints as %s", text)
	}
}

func TestKeyFilesAreRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "short": "c2hvcnQ=\n", "no base64": strings.Repeat("?", 44), "large": strings.Repeat(coded('a'), 200)} {
		if _, err := seal.Load(keyFile(t, text)); fault.CodeOf(err) != fault.Invalid || fault.From(err).Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{"/no/such/file", t.TempDir()} {
		if _, err := seal.Load(file); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", file, err)
		}
	}
}
