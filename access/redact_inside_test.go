package access

import (
	"strings"
	"testing"
)

// FuzzInnocent looks for secrets that would be taken for harmless.
func FuzzInnocent(f *testing.F) {
	for _, s := range []string{
		"component:default/checkout", "FAIRLEAD_0123456789abcdef", "GhR_0123456789", "gh\u017f_0123456789", "s\u212a-0123456789", "github_pat_0123456789", "glptt-0123456789",
		"XOXB-0123456789", "hvr.0123456789", "sk-0123456789", "ASIA0123456789ABCDEF", "eyJ01234567.01234567.", "Basic dXNlcjpwYXNz", "bearer\t012345678",
		"-----BEGIN PRIVATE KEY-----", "https://alice@git.example.com",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if innocent(s) && secretText.MatchString(s) {
			t.Errorf("%q holds a secret and is called innocent", s)
		}
	})
}

// FuzzNames looks for settings of secrets in texts that would be taken to name
// none.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"API_TOKEN=0123456789", "the pa\u017fsword is 0123456789", "To\u212aEN: 0123456789", "api\u017fecret = 0123456789", "passphrase\n:\n0123456789", "apiKey: 0123456789",
		"PRIVATE-KEY := 0123456789", "access_key=0123456789", "my credentials: 0123456789", "a key: 0123456789", "\u0130 secret: 0123456789",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !names(s) && secretSetting.MatchString(s) {
			t.Errorf("%q sets a secret and is said to name none", s)
		}
	})
}

// FuzzRedactCode: looking at the lines that have a sign alone finds no less
// than looking at all of a text.
func FuzzRedactCode(f *testing.F) {
	for _, s := range []string{"password := \"hunter22x\"\nx", "a\nAPI_KEY =\n'abcdef12'\nb", "x https://a@b\ny bearer\n12345678 z", "-----BEGIN A PRIVATE KEY-----\nx\n-----END A PRIVATE KEY-----\n", "pa\u017f\u017fword=\"abcdef1\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := RedactCode(s, true)
		if secretText.MatchString(got) && redact(got) != got && len(redact(got)) != len(got) {
			t.Errorf("%q became %q", s, got)
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q became %q: lines moved", s, got)
		}
	})
}
