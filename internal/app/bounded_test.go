package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesWithoutEndAreNotRead(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero")
	}
	if _, err := LoadConfig("/dev/zero"); err == nil {
		t.Error("a device was taken for a configuration")
	}
	_, err := ParseConfig([]byte("policy: {rules: /dev/zero}"), "f", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "the rules file /dev/zero cannot be read") {
		t.Errorf("got %v", err)
	}
	large := filepath.Join(t.TempDir(), "fairlead.yaml")
	if err := os.WriteFile(large, []byte(strings.Repeat("#", maxConfig+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadConfig(large); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestSourcesAreNotNamedAsFolders(t *testing.T) {
	for _, name := range []string{".", ".."} {
		_, err := ParseConfig([]byte("catalog: {sources: [{name: \""+name+"\", file: {path: /}}]}"), "f", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "is no name for a source") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestKeysDoNotActOnTerminals(t *testing.T) {
	_, err := ParseConfig([]byte(`"\e[31mkey": 1`), "f", t.TempDir())
	if err == nil || strings.ContainsRune(err.Error(), 0x1b) || !strings.Contains(err.Error(), "unknown key") {
		t.Errorf("got %q", err)
	}
}
