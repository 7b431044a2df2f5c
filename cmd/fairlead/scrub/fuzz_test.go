package scrub_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/scrub"
)

// FuzzScrub holds the scrubber to giving the same for every cut into writes, to
// leaving no value in any form, and to leaving all else.
func FuzzScrub(f *testing.F) {
	f.Add("hunter2!", "pass", "a text with hunter2! and pass in it", uint64(1))
	f.Add("aaaa", "aaaaaaaa", "aaabaaaaaaaaab", uint64(2))
	f.Add("a\\b'c\"d", "line one is long\nline two is long", `a\\b`, uint64(3))
	f.Add(strings.Repeat("0123456789", 30), "%25%32", "0123456789", uint64(4))
	f.Add("\\\\\\\\", "    ", `\\\\\\\\\\\\\\    `, uint64(5))
	f.Fuzz(func(t *testing.T, one, two, text string, seed uint64) {
		if len(one)+len(two) > 2000 || len(text) > 20000 || strings.ContainsAny(one+two, scrub.Mask) {
			t.Skip()
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		var whole strings.Builder
		for _, v := range []string{one, two} {
			whole.WriteString(text[:rnd.IntN(len(text)+1)])
			forms := encodings(v)
			for _, name := range []string{"plain", "json", "json in json", "query", "hex", "octal", "slashed", "base64 std0", "base64 within url2", "base64 in lines"} {
				if rnd.IntN(3) == 0 && len(v) >= scrub.MinLength {
					whole.WriteString(forms[name] + text[rnd.IntN(len(text)+1):])
				}
			}
		}
		s := setOf(one, two)
		want := scrubbed(t, s, whole.String(), whole.Len()+1)
		if s.In([]byte(want)) {
			t.Fatalf("a value survives in %q", want)
		}
		if !s.In([]byte(whole.String())) && !strings.HasPrefix(whole.String(), strings.TrimSuffix(want, scrub.Mask)) {
			t.Fatalf("%q became %q", whole.String(), want)
		}
		var out bytes.Buffer
		w := s.NewWriter(&out)
		for rest := []byte(whole.String()); len(rest) > 0; {
			n := min(1+rnd.IntN(1+rnd.IntN(200)), len(rest))
			_, _ = w.Write(rest[:n])
			rest = rest[n:]
		}
		if _ = w.Close(); out.String() != want {
			t.Fatalf("%q in writes became %q, at once %q", whole.String(), out.String(), want)
		}
	})
}
