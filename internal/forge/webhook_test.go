package forge

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestSecretsAreReadAnew(t *testing.T) {
	dir := t.TempDir()
	w := NewWebhook("secret", dir)
	for _, tc := range []struct {
		text string
		want fault.Code
	}{{"", fault.Forbidden}, {"other", fault.Forbidden}, {"other\n mine \n", ""}, {"mine", ""}} {
		writeFile(t, filepath.Join(dir, "secret"), tc.text)
		if err := w.VerifyToken("mine"); fault.CodeOf(err) != tc.want {
			t.Errorf("with %q: %v", tc.text, err)
		}
	}
	if err := NewWebhook("", dir).VerifyToken("mine"); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("without a secret: %v", err)
	}
	if err := NewWebhook("gone", dir).VerifyHMAC(nil, "00"); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("without the file: %v", err)
	}
}

func TestReplaysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWebhook("", "")
		if w.Replayed("1", []byte("a")) || !w.Replayed("1", []byte("b")) || !w.Replayed("2", []byte("a")) {
			t.Error("replays are not recognised")
		}
		time.Sleep(replayFor + time.Second)
		if w.Replayed("1", []byte("a")) {
			t.Error("a day later it is still known")
		}
		for i := range maxReplays {
			w.Replayed(fmt.Sprint("n", i), []byte(fmt.Sprint(i)))
		}
		if n := w.order.Len(); n != len(w.by) || n > maxReplays+1 {
			t.Errorf("%d deliveries are remembered", n)
		}
	})
}

func TestPlainURLs(t *testing.T) {
	got := PlainURLs("https://user:secret@git.example.com/a.git", "git@git.example.com:a.git", "ssh://git:secret@git.example.com/a.git", "")
	want := []string{"https://git.example.com/a.git", "git@git.example.com:a.git", "ssh://git@git.example.com/a.git"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAddresses(t *testing.T) {
	for _, tc := range []struct{ host, url, otherwise, want string }{
		{"", "", "github.com", "https://github.com"},
		{"git.example.com:8443", "", "", "https://git.example.com:8443"},
		{"https://git.example.com/gitea/", "", "", "https://git.example.com/gitea"},
		{"", "http://localhost:3000/", "", "http://localhost:3000"},
		{"", "http://[::1]:3000", "", "http://[::1]:3000"},
		{"", "http://git.example.com", "", ""},
		{"", "ftp://git.example.com", "", ""},
		{"", "https://git.example.com?x=1", "", ""},
		{"", "", "", ""},
		{"a b", "", "", ""},
	} {
		var ps Problems
		u := Address(&ps, tc.host, tc.url, tc.otherwise, true)
		if tc.want == "" && len(ps) != 1 || tc.want != "" && (len(ps) != 0 || u.String() != tc.want) {
			t.Errorf("%+v: %v, %v", tc, u, ps)
		}
	}
}
