package app

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// asked is one line of the table of requests.
type asked struct {
	line   string
	method string
	path   string
	header http.Header
	body   string
	follow string // next, prev or link of the answer before
}

// requests reads a table: METHOD path body. "-> next" and "-> prev" go on
// from the cursors of the answer before, "-> next POST" by POST, "-> link"
// from its link header; what stands after that is added to the query or the
// body. "Header: value" holds for the request after it.
func requests(t *testing.T, file string) []asked {
	t.Helper()
	var out []asked
	header := http.Header{}
	for line := range strings.Lines(readFile(t, file)) {
		line = strings.TrimSpace(line)
		name, value, isHeader := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case isHeader && !strings.ContainsAny(name, " /"):
			header.Add(name, value)
			continue
		}
		a := asked{line: line, header: header}
		header = http.Header{}
		rest, follows := strings.CutPrefix(line, "-> ")
		if follows {
			a.follow, rest, _ = strings.Cut(rest, " ")
		}
		a.method, rest, _ = strings.Cut(cmp.Or(rest, http.MethodGet), " ")
		if a.path, a.body, _ = strings.Cut(rest, " "); follows {
			a.path, a.body = "", rest
		}
		out = append(out, a)
	}
	return out
}

// exchange is one request and what it was answered, without what may differ.
type exchange struct {
	Request string          `json:"request"`
	Status  int             `json:"status"`
	Type    string          `json:"type,omitempty"`
	Link    string          `json:"link,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
	Text    string          `json:"text,omitempty"` // a body that is no JSON

	raw  []byte
	link string
}

// dialogue asks a catalog API one request after the other.
type dialogue struct {
	t     *testing.T
	base  string // with /api/catalog
	token string
	dir   string            // of the catalog's files
	uids  map[string]string // by full reference
}

// hold asks everything in order.
func (d *dialogue) hold(table []asked) []exchange {
	d.t.Helper()
	out := make([]exchange, len(table))
	for i, a := range table {
		if a.follow != "" {
			a.path, a.body = d.following(out[i-1], a)
		}
		a.path, a.body = d.fill(a.path), d.fill(a.body)
		out[i] = d.ask(a)
	}
	return out
}

// fill puts uids and folders in the places left for them.
func (d *dialogue) fill(text string) string {
	text = strings.ReplaceAll(text, "{dir}", d.dir)
	for {
		before, rest, ok := strings.Cut(text, "{uid:")
		ref, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return text
		}
		text = before + d.uids[ref] + after
	}
}

// following is the path and body of the page next to an answer.
func (d *dialogue) following(x exchange, a asked) (path, body string) {
	d.t.Helper()
	if a.follow == "link" {
		at, _, ok := strings.Cut(strings.TrimPrefix(x.link, "<"), ">")
		if !ok {
			d.t.Errorf("%s %s: no link header", d.base, x.Request)
		}
		return at, ""
	}
	var page struct{ PageInfo map[string]string }
	err := json.Unmarshal(x.raw, &page)
	cursor := page.PageInfo[a.follow+"Cursor"]
	if err != nil || cursor == "" {
		d.t.Errorf("%s %s: no %s cursor in %.200s", d.base, x.Request, a.follow, x.raw)
	}
	if a.method == http.MethodGet {
		return "/entities/by-query?cursor=" + url.QueryEscape(cursor) + a.body, ""
	}
	where := "/entities/by-query"
	if strings.Contains(x.Request, "/locations") {
		where = "/locations/by-query"
	}
	return where, `{"cursor":"` + cursor + `"` + a.body + `}`
}

// ask sends a request and takes out of the answer what may differ.
func (d *dialogue) ask(a asked) exchange {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), a.method, d.base+a.path, strings.NewReader(a.body))
	if err != nil {
		d.t.Fatal(err)
	}
	if a.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range a.header {
		req.Header[k] = v
	}
	if req.Header.Get("Authorization") == "" {
		req.Header.Set("Authorization", "Bearer "+d.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	x := exchange{Request: a.line, Status: res.StatusCode, Type: res.Header.Get("Content-Type"), link: res.Header.Get("Link")}
	if x.raw, err = io.ReadAll(res.Body); err != nil {
		d.t.Fatal(err)
	}
	x.Link = d.plain(openLink(x.link))
	var body any
	dec := json.NewDecoder(bytes.NewReader(x.raw))
	dec.UseNumber()
	if err := dec.Decode(&body); err != nil {
		x.Text = d.plain(string(x.raw))
		return x
	}
	if x.Body, err = json.Marshal(d.normal("", body)); err != nil {
		d.t.Fatal(err)
	}
	return x
}

// openLink shows what a link header's cursor holds.
func openLink(link string) string {
	before, rest, ok := strings.Cut(link, "after=")
	if !ok {
		return link
	}
	end := strings.IndexAny(rest, "&>")
	cursor, err := url.QueryUnescape(rest[:max(end, 0)])
	if err != nil {
		return link
	}
	data, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil {
		return link
	}
	return before + "after=" + string(data) + rest[end:]
}

// logged is the number of a line of Backstage's log.
var logged = regexp.MustCompile(`logId=[0-9a-f]+`)

// plain takes out of a text where the catalog's files are, and numbers of log
// lines.
func (d *dialogue) plain(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, d.dir, "{dir}"), url.QueryEscape(d.dir), "{dir}")
	return logged.ReplaceAllString(s, "logId={id}")
}

// normal takes out what may differ: etags, the text of cursors, and what
// Fairlead adds to errors.
func (d *dialogue) normal(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			v[k] = d.normal(k, member)
		}
		if key == "error" && v["name"] != nil {
			for _, extra := range []string{"code", "fix", "details"} {
				delete(v, extra)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = d.normal("", v[i])
		}
		return v
	case string:
		switch key {
		case "etag":
			return "{etag}"
		case "nextCursor", "prevCursor":
			return openCursor(v)
		}
		return d.plain(v)
	default:
		return v
	}
}

// openCursor is what a cursor holds but for its query, whose form may differ,
// and a text filter that keeps everything.
func openCursor(text string) any {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	var c map[string]any
	if json.Unmarshal(data, &c) != nil {
		return text
	}
	if c["query"] != nil {
		c["query"] = "{query}"
	}
	if text, _ := c["fullTextFilter"].(map[string]any); text["term"] == "" {
		delete(c, "fullTextFilter")
	}
	return c
}
