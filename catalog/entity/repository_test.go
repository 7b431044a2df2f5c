package entity

import "testing"

func TestRepositoryKey(t *testing.T) {
	const same = "github.com/acme/payments"
	for in, want := range map[string]string{
		"":                                           "",
		"https://github.com/acme/payments":           same,
		"https://github.com/acme/payments/":          same,
		"https://github.com/acme/payments.git":       same,
		"https://GitHub.com/Acme/Payments.git/":      same,
		"https://x:secret@github.com/acme/payments":  same,
		"http://www.github.com/acme/payments":        same,
		"git@github.com:acme/payments.git":           same,
		"git@github.com:/acme/payments":              same,
		"github.com:acme/payments":                   same,
		"ssh://git@github.com/acme/payments.git":     same,
		"ssh://git@github.com:22/acme/payments.git":  same,
		"git://github.com/acme/payments":             same,
		" https://github.com/acme/payments\n":        same,
		"https://gitlab.example.com/a/b/c.git":       "gitlab.example.com/a/b/c",
		"https://git.example.com:8443/acme/payments": "git.example.com/acme/payments",
		"/srv/git/payments.git":                      "/srv/git/payments",
		"file:///srv/git/payments.git":               "/srv/git/payments",
		"file:///":                                   "/",
		"C:\\repos\\payments":                        "C:\\repos\\payments",
		"https://[::1]:3000/acme/payments.git":       "::1/acme/payments",
		"https://bad host/%zz/acme.git":              "bad host/%zz/acme",
	} {
		if got := RepositoryKey(in); got != want {
			t.Errorf("RepositoryKey(%q) = %q, want %q", in, got, want)
		}
	}
}
