package access

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

// redacted is what the expressions make of a text as a whole.
func redacted(s string, name *setting) string {
	s = secretText.ReplaceAllStringFunc(s, maskText)
	if name == literals {
		return name.whole.ReplaceAllString(s, "${1}"+mask+"${3}")
	}
	return name.whole.ReplaceAllString(s, "${1}"+mask)
}

// sameRedacted tells of a text that comes out otherwise than by the expressions.
func sameRedacted(t *testing.T, s string) {
	t.Helper()
	if got, want := redact(s), secretText.ReplaceAllStringFunc(s, maskText); got != want {
		t.Fatalf("secrets of %q:\n%q, not\n%q", s, got, want)
	}
	if got, want := Redact(s), redacted(s, settings); got != want {
		t.Fatalf("settings of %q:\n%q, not\n%q", s, got, want)
	}
	if got, want := RedactCode(s, true), redacted(s, literals); got != want {
		t.Fatalf("literals of %q:\n%q, not\n%q", s, got, want)
	}
}

// pieces are what texts with secrets, and such that nearly have some, are made
// of.
var pieces = []string{
	"fairlead_", "0123456789abcdef", "ghp_", "GhR_", "gh\u017f_", "s\u212a-", "sk-", "github_pat_", "glpat-", "glptt-", "xox", "xoxb-", "xoxz-", "hvs.", "hvr.", "a.b-c_d", "AKIA", "ASIA",
	"0123456789ABCDEF", "eyJ", "01234567.", "01234567", "Bearer", "basic", "-----BEGIN ", "RSA ", "PRIVATE KEY-----", "-----END ", "-----", "://", "https", "alice", ":", "@", "/", " ", "  ", "\n", "\t", "\r\n",
	"token", "TOKEN", "secret", "\u017fecret", "to\u212aen", "passw", "password", "passwd", "passphrase", "credential", "s", "api", "key", "-", "_", "private", "access", "apiKey", "=", ":=", "=>", ": ", " is ", " = ",
	`"`, "'", "`", "$", "<", "{", "(", "[", "]", ")", ",", ";", "%", "é", "漢", "\xff", "\x00", "\u0130", "hunter22", "abcdef", "x", "string", "1", ".", "~+/=", "\u00a0", "\f", "\v",
}

func TestRedactFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 60_000
	if testing.Short() {
		n = 3_000
	}
	hit := 0
	for range n {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		s := b.String()
		sameRedacted(t, s)
		if Redact(s) != s {
			hit++
		}
	}
	if hit < n/50 {
		t.Errorf("only %d of %d texts held a secret", hit, n)
	}
}

// TestRedactTakesNoTimeForNothing lets texts that nearly hold secrets all along
// pass. Time grows with their length alone: for 32 times the text it is nowhere
// near the thousandfold, however busy the machine is.
func TestRedactTakesNoTimeForNothing(t *testing.T) {
	for _, piece := range []string{"token.", "token", "token = ", "-----BEGIN A ", "-----BEGIN PRIVATE KEY----", "://a", "bearer ", "eyJaaaaaaaa.", "sk-a ", "fairlead_", "a-token-", "token: token\n"} {
		took := func(size int) time.Duration {
			s := strings.Repeat(piece, size/len(piece))
			start := time.Now()
			RedactCode(s, true)
			Redact(s)
			return time.Since(start)
		}
		if small, large := took(1<<10), took(32<<10); large > 400*max(small, time.Millisecond) {
			t.Errorf("%q: 1 KiB takes %s, 32 KiB %s", piece, small, large)
		}
	}
}

// FuzzRedact: looking at the places of signs alone finds what the expressions
// find.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"component:default/checkout", "FAIRLEAD_0123456789abcdef", "GhR_0123456789", "gh\u017f_0123456789", "s\u212a-0123456789", "github_pat_0123456789", "glptt-0123456789",
		"XOXB-0123456789", "hvr.0123456789", "sk-0123456789", "ASIA0123456789ABCDEF", "eyJ01234567.01234567.", "Basic dXNlcjpwYXNz", "bearer\t012345678", "xAKIA0123456789ABCDEF é",
		"-----BEGIN PRIVATE KEY-----", "https://alice@git.example.com", "a://b://c@d",
		"API_TOKEN=0123456789", "the pa\u017fsword is 0123456789", "To\u212aEN: 0123456789", "api\u017fecret = 0123456789", "passphrase\n:\n0123456789", "apiKey: 0123456789",
		"PRIVATE-KEY := 0123456789", "access_key=0123456789", "my credentials: 0123456789", "a key: 0123456789", "\u0130 secret: 0123456789", "token-token=abcdef,secret=abcdefg",
		"password := \"hunter22x\"\nx", "a\nAPI_KEY =\n'abcdef12'\nb", "x https://a@b\ny bearer\n12345678 z", "-----BEGIN A PRIVATE KEY-----\nx\n-----END A PRIVATE KEY-----\n", "pa\u017f\u017fword=\"abcdef1\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sameRedacted(t, s)
		if got := RedactCode(s, true); strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q became %q: lines moved", s, got)
		}
	})
}

// BenchmarkRedact is of a page of documentation.
func BenchmarkRedact(b *testing.B) {
	page := strings.Repeat("Configuration comes from the environment; secrets are mounted as files – see https://docs.example.com/secrets. Rotate the key with `kubectl -n prod create secret generic x`.\n"+
		"The service reads each passenger once and writes the result to Kafka. If the error rate rises after a deploy, roll back first.\n\n", 12)
	whole := regexp.MustCompile(secretText.String())
	b.Run("places", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			Redact(page)
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			settings.whole.ReplaceAllString(whole.ReplaceAllStringFunc(page, maskText), "${1}"+mask)
		}
	})
}
