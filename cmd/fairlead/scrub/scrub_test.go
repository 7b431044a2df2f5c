package scrub_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/scrub"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

func setOf(secrets ...string) *scrub.Set {
	var values []value.Value
	for _, s := range secrets {
		values = append(values, value.New([]byte(s)))
	}
	return scrub.New(values...)
}

// scrubbed writes a text in pieces of a length and gives what comes out.
func scrubbed(t testing.TB, s *scrub.Set, text string, length int) string {
	t.Helper()
	var out bytes.Buffer
	w := s.NewWriter(&out)
	for i := 0; i < len(text); i += length {
		if n, err := w.Write([]byte(text[i:min(i+length, len(text))])); err != nil || n != min(length, len(text)-i) {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// encodings are the forms that a value is looked for in, by name.
func encodings(v string) map[string]string {
	quoted, _ := json.Marshal(v)
	nested, _ := json.Marshal(string(quoted))
	var escaped, upper, lower, slashed, octal, every strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&escaped, `\u00%02x`, v[i])
		fmt.Fprintf(&upper, "%%%02X", v[i])
		fmt.Fprintf(&lower, "%%%02x", v[i])
		fmt.Fprintf(&octal, `\%03o`, v[i])
		fmt.Fprintf(&every, "%02X:", v[i])
		if c := v[i]; c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' && c < 0x80 {
			slashed.WriteByte('\\')
		}
		slashed.WriteByte(v[i])
	}
	out := map[string]string{
		"plain": v, "json": string(quoted[1 : len(quoted)-1]), "json in json": string(nested[3 : len(nested)-3]), "json escaped": escaped.String(),
		"json slashes": strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "/", `\/`), "query": url.QueryEscape(v), "path": url.PathEscape(v), "url upper": upper.String(), "url lower": lower.String(),
		"url twice": url.QueryEscape(url.QueryEscape(v)), "hex": hex.EncodeToString([]byte(v)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(v))),
		"hex apart": strings.TrimSuffix(every.String(), ":"), "shell": "'" + strings.ReplaceAll(v, "'", `'\''`) + "'", "slashed": slashed.String(), "octal": octal.String(),
	}
	for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "raw": base64.RawStdEncoding, "url": base64.URLEncoding, "rawurl": base64.RawURLEncoding} {
		for pad := range 3 {
			out[fmt.Sprint("base64 ", name, pad)] = e.EncodeToString([]byte("xyz"[:pad] + v))
			out[fmt.Sprint("base64 within ", name, pad)] = e.EncodeToString([]byte("xyz"[:pad] + v + "and more"))
		}
	}
	out["base64 in lines"] = lines(out["base64 within std1"])
	return out
}

func lines(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i += 7 {
		b.WriteString(s[i:min(i+7, len(s))] + "\r\n")
	}
	return b.String()
}

// core is what an encoding has of the value alone.
func core(name, text string) string {
	if strings.HasPrefix(name, "base64 in lines") {
		return "never"
	}
	if strings.HasPrefix(name, "base64") && len(text) > 12 {
		return text[4 : len(text)*2/3]
	} else if strings.HasPrefix(name, "base64") {
		return text
	}
	return strings.Trim(text, "'")
}

// TestEncodings holds the scrubber to finding a value in every form, whatever
// the writes, and to leaving the text around it.
func TestEncodings(t *testing.T) {
	for _, v := range []string{"p4ss", "hunter2!", "pa/ss+w?rd&x=1", `it's "a" \ value`, "aaaaaaaa", "naïve-pässwörd-😀", "Zm9vYmFyYmF6cXV4", "tab\tand\x01\x1b", strings.Repeat("long-0123456789-", 20), " spaces around "} {
		s := setOf(v)
		for name, text := range encodings(v) {
			whole := "before >" + text + "< after\n"
			want := scrubbed(t, s, whole, len(whole))
			if !strings.HasPrefix(want, "before >") || !strings.HasSuffix(want, "< after\n") || !strings.Contains(want, scrub.Mask) {
				t.Errorf("%s of %q: %q became %q", name, v, whole, want)
			}
			if strings.Contains(want, core(name, text)) || s.In([]byte(want)) || !s.In([]byte(whole)) {
				t.Errorf("%s of %q survives in %q", name, v, want)
			}
			for _, length := range []int{1, 7} {
				if got := scrubbed(t, s, whole, length); got != want {
					t.Errorf("%s of %q in writes of %d: %q, not %q", name, v, length, got, want)
				}
			}
		}
	}
}

func TestWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		values     []string
		text, want string
	}{
		"nothing to find":     {[]string{"password"}, "pass the word, passwor", "pass the word, •••"},
		"nothing at all":      {nil, "anything\n", "anything\n"},
		"too short":           {[]string{"abc", ""}, "abc abc", "abc abc"},
		"one in another":      {[]string{"pass", "password"}, "password pass passing", "••• ••• •••ing"},
		"they overlap":        {[]string{"abcdef", "defghi"}, "<abcdefghi>", "<•••>"},
		"one after the other": {[]string{"abcd"}, "abcdabcd abcd", "••• •••"},
		"of one character":    {[]string{"aaaa"}, "aaaaaaaaa b aaa b", "••• b aaa b"},
		"a beginning":         {[]string{"password"}, "p pa pas passw passwor\n", "p pa pas passw passwor\n"},
		"lines":               {[]string{"-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n"}, "-----BEGIN KEY-----\n  MIIEvQIBADANBgkq\n  hkiG9w0BAQEFAASC\n", "-----BEGIN KEY-----\n  •••\n  •••\n"},
		"a line break less":   {[]string{"secret-thing\n"}, "secret-thing", "•••"},
		"basic auth":          {[]string{"hunter2!"}, "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("me:hunter2!")), "Authorization: Basic bWU6•••"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := scrubbed(t, setOf(c.values...), c.text, 5); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestRealPrograms holds the scrubber to what programs make of a value.
func TestRealPrograms(t *testing.T) {
	const v = `k9$f "x" 'y' \z/é&<>+=end`
	s := setOf(v)
	for _, script := range []string{`printf %s "$V"`, `printf %q "$V"`, `declare -p V`, `set -x; : "$V"`, `printf %s "$V" | base64`, `printf 'user:%s' "$V" | base64 -w 10`,
		`printf %s "$V" | xxd -p -c 100`, `printf %s "$V" | od -An -v -tx1 -w100`, `echo "${V@Q}" "${V@E}"`, `export -p | grep ' V='`} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Env = append(cmd.Environ(), "V="+v, "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(script, "xxd") {
			t.Errorf("%s: %v %s", script, err, out)
			continue
		}
		if got := scrubbed(t, s, string(out), 1); err == nil && !strings.Contains(got, scrub.Mask) {
			t.Errorf("%s wrote %q, left as %q", script, out, got)
		}
	}
}

// TestNothingWaits holds the scrubber to showing prompts at once.
func TestNothingWaits(t *testing.T) {
	var out bytes.Buffer
	w := setOf("secret-of-mine", "shh!").NewWriter(&out)
	say := func(text, want string) {
		t.Helper()
		_, _ = w.Write([]byte(text))
		if out.String() != want {
			t.Fatalf("after %q: %q, want %q", text, out.String(), want)
		}
		out.Reset()
	}
	say("Password: ", "Password: ")
	say("line\n", "line\n")
	say("yes", "ye") // s may begin a value
	if !w.Waiting() || w.Idle() != nil || out.String() != "s" {
		t.Fatalf("idle: %q", out.String())
	}
	out.Reset()
	say("ecret-of-mine.", scrub.Mask+".") // all that can still be masked
	say("secret-of", "")
	if w.Waiting() || w.Idle() != nil || out.Len() > 0 {
		t.Fatalf("a beginning that tells much is let go: %q", out.String())
	}
	say("ten", "secret-often")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestErrorsOfTheWriterBelow(t *testing.T) {
	w := setOf("password").NewWriter(broken{})
	if _, err := w.Write([]byte("text\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	s := setOf("password")
	s.Wipe()
	if s.In([]byte("password")) {
		t.Error("what was forgotten is found")
	}
}

// BenchmarkScrub measures ordinary output, and output that is full of values.
func BenchmarkScrub(b *testing.B) {
	s := setOf("Xk3-9sPq0-Lm22-zzYd", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n", 30))
	log := []byte(strings.Repeat(`2026-01-31T12:00:00Z INFO  request handled method=GET path=/api/v1/orders/48151623 status=200 duration=12.5ms {"user":"alice","items":[1,2,3]}`+"\n", 230))
	noise := make([]byte, 32<<10)
	x := uint32(1)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[x>>26]
	}
	for name, text := range map[string][]byte{"log": log, "base64": noise, "values": bytes.Repeat([]byte("x=Xk3-9sPq0-Lm22-zzYd\n"), 1500)} {
		b.Run(name, func(b *testing.B) {
			w := s.NewWriter(io.Discard)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = w.Write(text)
			}
		})
	}
}
