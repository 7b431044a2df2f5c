package document

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
)

// maxFront is the most front matter that is read, in bytes.
const maxFront = 32 << 10

// splitFront takes the front matter off a text, and tells the line at which
// the rest begins.
func splitFront(data []byte) (front, body []byte, line int) {
	if !bytes.HasPrefix(data, []byte("---\n")) {
		return nil, data, 1
	}
	line = 2
	for at := 4; at < len(data); line++ {
		end := bytes.IndexByte(data[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(data)-at, len(data)
		}
		if text := bytes.TrimRight(data[at:at+end], " \t"); bytes.Equal(text, []byte("---")) || bytes.Equal(text, []byte("...")) {
			return data[4:at], data[next:], line + 1
		}
		at = next
	}
	return nil, data, 1
}

// fields are the front matter's values by key: lower case, without "-" and
// "_".
type fields map[string]*yaml.Node

// readFront reads front matter; what is no YAML mapping is a problem.
func (d *Document) readFront(front []byte) fields {
	if len(bytes.TrimSpace(front)) == 0 {
		return nil
	}
	f, why := parseFront(front)
	if why != "" {
		d.problem("front matter: %s", why)
		return nil
	}
	d.Title = f.text("title", "name")
	d.Question, d.Description = f.text("question"), f.text("description", "summary")
	d.AppliesTo = f.list("appliesto", "services", "service", "components", "component")
	d.Versions = f.list("versions", "version")
	d.Environments = f.list("environments", "environment")
	d.VerifyCommand = f.text("verifycommand")
	d.AllowedTools = f.list("allowedtools")
	d.Owner, d.Status = f.text("owner"), f.text("status", "lifecycle")
	if by := f.list("supersededby"); len(by) > 0 {
		d.SupersededBy = by[0]
	}
	for _, name := range f.list("alert", "alerts", "alertname") {
		d.Alerts = append(d.Alerts, AlertKey(name))
	}
	d.LastVerified = d.day(f, "lastverified", "lastreviewed", "reviewed")
	d.Expires = d.day(f, "expires", "expiry", "supporteduntil", "validuntil")
	return f
}

// parseFront reads a mapping, or says why there is none.
func parseFront(front []byte) (_ fields, why string) {
	if len(front) > maxFront {
		return nil, fmt.Sprintf("it is larger than %d bytes", maxFront)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(front, &root); err != nil {
		return nil, oneLine(access.Redact(strings.TrimPrefix(err.Error(), "yaml: ")), 200)
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, "it is no mapping"
	}
	f := fields{}
	for c := root.Content[0].Content; len(c) >= 2; c = c[2:] {
		key := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(c[0].Value))
		if _, twice := f[key]; !twice {
			f[key] = c[1]
		}
	}
	return f, ""
}

// text is the first of some keys that has a plain value.
func (f fields) text(keys ...string) string {
	for _, k := range keys {
		if n := f[k]; n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			if s := oneLine(access.Redact(n.Value), maxField); s != "" {
				return s
			}
		}
	}
	return ""
}

// list is the first of some keys that has values: a list, or a plain value
// whose parts commas separate.
func (f fields) list(keys ...string) []string {
	for _, k := range keys {
		var out []string
		n := f[k]
		switch {
		case n == nil:
		case n.Kind == yaml.SequenceNode:
			for _, c := range n.Content[:min(len(n.Content), maxItems)] {
				out = appendText(out, c)
			}
		case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
			for part := range strings.SplitSeq(n.Value, ",") {
				if s := oneLine(access.Redact(part), maxField); s != "" && len(out) < maxItems {
					out = append(out, s)
				}
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func appendText(out []string, n *yaml.Node) []string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return out
	}
	if s := oneLine(access.Redact(n.Value), maxField); s != "" {
		out = append(out, s)
	}
	return out
}

// day reads a day or a moment; what is neither is a problem.
func (d *Document) day(f fields, keys ...string) time.Time {
	s := f.text(keys...)
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02 15:04:05", "2006/01/02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	d.problem("front matter: %s: %.60q is no date; write it as 2026-01-31", keys[0], s)
	return time.Time{}
}
