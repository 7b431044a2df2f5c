package descriptor

import (
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	a63 := strings.Repeat("a", 63)
	for _, tc := range []struct {
		name      string
		ok        func(string) bool
		good, bad []string
	}{
		{"object name", isObjectName, []string{"a", "A1", "a.-_b", "a..b", a63}, []string{"", "-a", "a-", "a b", "é", a63 + "a", ".a", "a\n"}},
		{"namespace", isDNSLabel, []string{"a", "a--b", "1", a63}, []string{"", "A", "a_b", "a.b", "-a", "a-", a63 + "a"}},
		{"tag", isTag, []string{"go", "c++", "c#", "a:b", "a-b"}, []string{"", "Go", "a--b", "-a", "a-", "a.b", "a_b", a63 + "a"}},
		{"kind", isKind, []string{"A", "Component", "k8s"}, []string{"", "1a", "a-b", "a b", a63 + "a"}},
		{"apiVersion", isAPIVersion, []string{"v1", "backstage.io/v1alpha1", "a-b.c/V1"}, []string{"", "1.0", "A.io/v1", "a/b/c", "/v1", "a/", "a..b/v"}},
		{"key", isKey, []string{"a", "A_b.c", "example.test/A_b"}, []string{"", "Example.test/a", "a/b/c", "/a", "a/", "-a", strings.Repeat("a.", 127) + "a/b"}},
		{"label value", isLabelValue, []string{"", "a", "1.2.3"}, []string{" ", "a b", a63 + "a"}},
	} {
		for _, s := range tc.good {
			if !tc.ok(s) {
				t.Errorf("%s: %q is refused", tc.name, s)
			}
		}
		for _, s := range tc.bad {
			if tc.ok(s) {
				t.Errorf("%s: %q is accepted", tc.name, s)
			}
		}
	}
}

func TestURLs(t *testing.T) {
	for _, s := range []string{
		"https://example.org", "https:x", "http:/x", `https:\\a`, "C:/x", "localhost:3000", "example.test:8080/x", "foo:",
		"javascript:alert(1)", " https://x ", "ht\ntps://a", "https://a..b", "https://.", "https://1.2.3", "https://xn--a",
		"https://%41.test", "https://a\x00", "https://~ä", "https://ä_b", "https://[::1]/", "https://u:p@h:1/", "file:///x",
		"https://" + strings.Repeat("u", 5000) + "@x/", "foo://u@h",
	} {
		if !isURL(s) {
			t.Errorf("%.60q is refused", s)
		}
	}
	for _, s := range []string{
		"", "https://", "//x", "/x", "example.test", "https://999.1.1.1", "https://1.2.3.256", "https://1.2.3.4.5", "https://08",
		"https://4294967296", "https://x:65536", "https://a|b", "x://a|b", "https://%zz", "https://a b", "foo://u@/x",
		"https://" + strings.Repeat("@", 5000), "https://xn--é", "https://ﷺ",
	} {
		if isURL(s) {
			t.Errorf("%.60q is accepted", s)
		}
	}
}

// What is told at sight must be what the parser says.
func TestPlainURLsAreURLs(t *testing.T) {
	for _, s := range []string{"https://a", "https://a.b-c.d/e?f#g", "https://1a.b/", "https://a-.b"} {
		if !isPlainURL(s) {
			t.Errorf("%q is not told at sight", s)
		}
	}
	for _, s := range []string{"http://a", "https://", "https://a.1", "https://a:1", "https://A", "https://a..b", "https://.a", "https://a/ä", "https://xn--a"} {
		if isPlainURL(s) {
			t.Errorf("%q is told at sight", s)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, s := range []string{"", " ", "\t\n\v\f\r", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u205f", "\u3000", "\ufeff"} {
		if !isBlank(s) {
			t.Errorf("%q is not blank", s)
		}
	}
	for _, s := range []string{"a", "\u200b", "\u0085", "\u180e"} {
		if isBlank(s) {
			t.Errorf("%q is blank", s)
		}
	}
}

func TestPercentEncoding(t *testing.T) {
	if got := encode("a b(ü)'!~*#+;%/"); got != "a%20b(%C3%BC)'!~*%23%2B%3B%25%2F" {
		t.Errorf("encode: %s", got)
	}
	if got, err := decode("a%20b%C3%BC"); err != nil || got != "a bü" {
		t.Errorf("decode: %q, %v", got, err)
	}
	for _, s := range []string{"%", "%2", "%zz", "%ff", "a%C3"} {
		if got, err := decode(s); err == nil {
			t.Errorf("decode(%q) = %q, want an error", s, got)
		}
	}
}
