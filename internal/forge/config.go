package forge

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// field is a configured value and its key.
type field[T any] struct {
	name  string
	value T
}

// Problems gathers what is wrong with a configuration.
type Problems []Problem

// Add adds one, its message formatted.
func (p *Problems) Add(field, format string, args ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Filter says which of the repositories count. The zero value takes all that
// are neither archived nor forks.
type Filter struct {
	// Names are globs of repository names, without the owner.
	Names Choice `yaml:"names"`
	// Topics are names of topics: a repository counts if it has any of those
	// to include and none of those to exclude.
	Topics Choice `yaml:"topics"`
	// Archived also takes archived repositories.
	Archived bool `yaml:"archived"`
	// Forks also takes forks.
	Forks bool `yaml:"forks"`
	// Visibility takes only those that are public, internal or private;
	// default whatever the token may see.
	Visibility string `yaml:"visibility"`
}

// Choice is what to take and what to leave. With nothing to include,
// everything is taken.
type Choice struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// Validate adds what is wrong with the filter to ps, its fields below filter;
// visibilities are those that the forge knows.
func (f *Filter) Validate(ps *Problems, visibilities ...string) {
	for _, globs := range []field[[]string]{{"filter.names.include", f.Names.Include}, {"filter.names.exclude", f.Names.Exclude}} {
		for i, glob := range globs.value {
			if glob == "" || !doublestar.ValidatePattern(glob) {
				ps.Add(fmt.Sprintf("%s[%d]", globs.name, i), "%q is no glob of names; write for example service-*", glob)
			}
		}
	}
	for _, topics := range []field[[]string]{{"filter.topics.include", f.Topics.Include}, {"filter.topics.exclude", f.Topics.Exclude}} {
		for i, topic := range topics.value {
			if strings.TrimSpace(topic) == "" {
				ps.Add(fmt.Sprintf("%s[%d]", topics.name, i), "a topic has a name")
			}
		}
	}
	if f.Visibility != "" && !slices.Contains(visibilities, f.Visibility) {
		ps.Add("filter.visibility", "%q is none of %s", f.Visibility, strings.Join(visibilities, ", "))
	}
}

// Takes tells whether a repository counts. Visibility is left to the host,
// which knows it.
func (f *Filter) Takes(r *Repository) bool {
	if r.Archived && !f.Archived || r.Fork && !f.Forks {
		return false
	}
	name := path.Base(r.FullName)
	matches := func(glob string) bool { return doublestar.MatchUnvalidated(glob, name) }
	has := func(topic string) bool {
		return slices.ContainsFunc(r.Topics, func(t string) bool { return strings.EqualFold(t, topic) })
	}
	return f.Names.takes(matches) && f.Topics.takes(has)
}

func (c *Choice) takes(matches func(string) bool) bool {
	return (len(c.Include) == 0 || slices.ContainsFunc(c.Include, matches)) && !slices.ContainsFunc(c.Exclude, matches)
}

// Limits bound what talking to a forge may cost; zero values mean the
// defaults.
type Limits struct {
	// Timeout of one request; default 30s.
	Timeout time.Duration `yaml:"timeout"`
	// Wait is the longest that a request waits for the host's limits before
	// it is given up; default 1m.
	Wait time.Duration `yaml:"wait"`
	// ReservePercent of the host's limit is kept for people and agents who
	// wait for an answer; default 10.
	ReservePercent int `yaml:"reservePercent"`
	// RequestsPerMinute is the pace that is kept below; default 600.
	RequestsPerMinute int `yaml:"requestsPerMinute"`
	// Concurrency is how many requests run at a time; default 4.
	Concurrency int `yaml:"concurrency"`
	// Repositories that one list may hold; default 100,000. A longer one is
	// an error.
	Repositories int `yaml:"repositories"`
	// Relist is after how long the whole list is read again although the
	// host tells of no change; default 15m.
	Relist time.Duration `yaml:"relist"`
}

// WithDefaults fills in what is not set.
func (l Limits) WithDefaults() Limits {
	l.Timeout = or(l.Timeout, 30*time.Second)
	l.Wait = or(l.Wait, time.Minute)
	l.ReservePercent = or(l.ReservePercent, 10)
	l.RequestsPerMinute = or(l.RequestsPerMinute, 600)
	l.Concurrency = or(l.Concurrency, 4)
	l.Repositories = or(l.Repositories, 100_000)
	l.Relist = or(l.Relist, 15*time.Minute)
	return l
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Validate adds what is wrong with the limits to ps, its fields below limits.
func (l *Limits) Validate(ps *Problems) {
	for _, d := range []field[time.Duration]{{"limits.timeout", l.Timeout}, {"limits.wait", l.Wait}, {"limits.relist", l.Relist}} {
		if d.value < 0 {
			ps.Add(d.name, "%s is less than nothing", d.value)
		}
	}
	for _, n := range []field[int]{{"limits.requestsPerMinute", l.RequestsPerMinute}, {"limits.concurrency", l.Concurrency}, {"limits.repositories", l.Repositories}} {
		if n.value < 0 {
			ps.Add(n.name, "%d is less than nothing", n.value)
		}
	}
	if l.ReservePercent < 0 || l.ReservePercent > 90 {
		ps.Add("limits.reservePercent", "%d is not between 0 and 90", l.ReservePercent)
	}
}

// ValidateFiles adds what is wrong with the globs and the ref that the
// repositories' Git sources read by.
func ValidateFiles(ps *Problems, include []string, ref string) {
	for i, glob := range include {
		if glob == "" || strings.HasPrefix(glob, "/") || !doublestar.ValidatePattern(glob) {
			ps.Add(fmt.Sprintf("include[%d]", i), "%q is no glob; write for example **/catalog-info.yaml, relative to the repository's root", glob)
		}
	}
	if strings.ContainsAny(ref, " ~^:?*[\\\x00\n") || strings.HasPrefix(ref, "-") || strings.Contains(ref, "..") {
		ps.Add("ref", "%q is no name of a branch or tag", ref)
	}
}

// ParseURL reads the address of a host, and adds what is wrong with it to ps.
// With secret, credentials travel there: it then must be https, or on this
// machine.
func ParseURL(ps *Problems, field, text string, secret bool) *url.URL {
	u, err := url.Parse(text)
	switch {
	case text == "":
		ps.Add(field, "the host's address is missing")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		ps.Add(field, "it is no http or https URL")
	case u.User != nil:
		ps.Add(field, "it holds credentials; name them by credentials.tokenFile or credentials.tokenEnv")
	case u.RawQuery != "" || u.Fragment != "":
		ps.Add(field, "%q has a query or a fragment; write the address alone", text)
	case u.Scheme == "http" && secret && !loopback(u.Hostname()):
		ps.Add(field, "a token would travel unencrypted; use https")
	default:
		u.Path = strings.TrimRight(u.Path, "/")
		return u
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// ValidateName adds a problem if the name of an organization, user or group
// cannot be one.
func ValidateName(ps *Problems, field, name string) {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`?#%\:`, r) || r == 0x7f }) {
			ps.Add(field, "%q is no name of one", name)
			return
		}
	}
}

// ValidateAccount adds what is wrong with the section of a forge, as against
// that of a source, to ps.
func ValidateAccount(ps *Problems, token Credentials, filter Filter, include []string, ref string) {
	if !token.Set() {
		ps.Add("tokenFile", "a token that may write is missing")
	}
	if !reflect.ValueOf(filter).IsZero() || len(include) > 0 || ref != "" {
		ps.Add("filter", "filter, include and ref are for sources; a forge reads no files")
	}
}
