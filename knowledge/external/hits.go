package external

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// The bounds of an answer: hits, and bytes of their parts.
const (
	maxHits  = 10
	maxTitle = 200
	maxURL   = 1000
	maxText  = 600
)

// hits reads an answer, whose relative links are relative to base.
func (c *Config) hits(data []byte, base *url.URL) ([]knowledge.ExternalHit, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, complaint("the answer is no JSON")
	}
	items, ok := at(v, c.Items).([]any)
	if !ok {
		return nil, complaint("the answer has no list at items")
	}
	out := []knowledge.ExternalHit{}
	for _, item := range items {
		h := knowledge.ExternalHit{Title: clean(at(item, c.Fields.Title), maxTitle), URL: link(at(item, c.Fields.URL), base), Text: clean(at(item, c.Fields.Text), maxText)}
		if h != (knowledge.ExternalHit{}) && len(out) < maxHits {
			out = append(out, h)
		}
	}
	return out, nil
}

// at is what is at a path of keys with dots between, nil if nothing is.
func at(v any, path string) any {
	if path == "" {
		return v
	}
	for key := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// visible makes one line of a text: no control characters, and nothing
// invisible, which turns writing around or hides what is written.
func visible(s string) string {
	return strings.Join(strings.Fields(strings.Map(shown, strings.ToValidUTF8(s, "\uFFFD"))), " ")
}

func shown(r rune) rune {
	switch {
	case unicode.IsControl(r):
		return ' '
	case unicode.Is(unicode.Cf, r):
		return -1
	}
	return r
}

// clean makes of a text of strangers one line without secrets, and not too
// long.
func clean(v any, most int) string {
	s, _ := v.(string)
	return clip(access.Redact(visible(s)), most)
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// link is a URL for people to open, "" where there is none.
func link(v any, base *url.URL) string {
	s, _ := v.(string)
	u, err := base.Parse(s)
	if s == "" || err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	if text := u.String(); len(text) <= maxURL && access.Redact(text) == text {
		return text
	}
	return ""
}
