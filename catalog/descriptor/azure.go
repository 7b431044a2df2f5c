package descriptor

import (
	"slices"
	"strings"

	neturl "net/url"

	"github.com/nlnwa/whatwg-url/url"
)

// azureURL is what a URL of Azure DevOps says.
type azureURL struct{ repository, path string }

func parseAzure(u *url.Url) (azureURL, bool) {
	parts := strings.Split(u.Pathname(), "/")
	for i := range parts {
		d, err := decode(parts[i])
		if err != nil {
			return azureURL{}, false
		}
		parts[i] = d
	}
	for _, at := range []int{2, 3, 4} {
		if len(parts) <= at+1 || parts[at] != "_git" {
			continue
		}
		owner, repo := strings.Join(parts[1:at], "/"), parts[at+1]
		if strings.Trim(owner, "/") == "" || repo == "" {
			return azureURL{}, false
		}
		version := queryValue(u, "version")
		if version != "" && !strings.HasPrefix(version, "GB") && !strings.HasPrefix(version, "GT") {
			return azureURL{}, false
		}
		// The default project of an owner has the repository's name.
		if at == 2 {
			owner += "/" + repo
		}
		return azureURL{u.Host() + "/" + owner + "/" + repo, queryValue(u, "path")}, true
	}
	return azureURL{}, false
}

func (p *Processor) azureResolve(b *url.Url, ref string) (string, bool) {
	g, ok := parseAzure(b)
	if !ok {
		return "", false
	}
	u, err := p.urls.ParseRef("https://a.com"+g.path, ref)
	if err != nil {
		return "", false
	}
	return withQuery(b, "path", u.Pathname()), true
}

// pair is one name and value of a URL's query.
type pair struct{ name, value string }

// query reads a URL's query as HTML forms write it.
func query(u *url.Url) []pair {
	var out []pair
	for part := range strings.SplitSeq(strings.TrimPrefix(u.Search(), "?"), "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		out = append(out, pair{formDecode(name), formDecode(value)})
	}
	return out
}

func formDecode(s string) string {
	b := []byte(strings.ReplaceAll(s, "+", " "))
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) && isHex(b[i+1]) && isHex(b[i+2]) {
			out = append(out, unhex(b[i+1])<<4|unhex(b[i+2]))
			i += 2
			continue
		}
		out = append(out, b[i])
	}
	return decodeText(out)
}

// formEncode writes as HTML forms do, which differs from Go's by two signs.
func formEncode(s string) string {
	return strings.NewReplacer("~", "%7E", "%2A", "*").Replace(neturl.QueryEscape(s))
}

// queryValue is the first value of a name, "" where there is none.
func queryValue(u *url.Url, name string) string {
	for _, p := range query(u) {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// withQuery is a URL with some names of its query set: the first of a name is
// replaced, others of that name go.
func withQuery(u *url.Url, namesAndValues ...string) string {
	pairs := query(u)
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		name, value := namesAndValues[i], namesAndValues[i+1]
		at := slices.IndexFunc(pairs, func(p pair) bool { return p.name == name })
		if at < 0 {
			pairs = append(pairs, pair{name, value})
			continue
		}
		pairs[at].value = value
		tail := slices.DeleteFunc(slices.Clone(pairs[at+1:]), func(p pair) bool { return p.name == name })
		pairs = append(pairs[:at+1], tail...)
	}
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(formEncode(p.name) + "=" + formEncode(p.value))
	}
	c := u.Clone()
	c.SetSearch(b.String())
	return c.Href(false)
}
