package access

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Rate bounds how often: Burst times at once, refilled evenly over Per. It is
// written 30/1m, or 30/m for a whole unit.
type Rate struct {
	Burst int
	Per   time.Duration
}

// Quota meters. Take uses up one of what the limit grants under a key; where
// nothing is left it uses up nothing and tells how long to wait. A limit that
// is not Valid is an error.
type Quota interface {
	Take(ctx context.Context, key string, limit Rate) (wait time.Duration, err error)
}

// Valid tells whether the rate can be metered: at least one in a time of at
// least a nanosecond each, over at most a year.
func (r Rate) Valid() bool {
	return r.Burst >= 1 && r.Per >= time.Duration(r.Burst) && r.Per <= 366*24*time.Hour
}

// Interval is the time in which one is refilled.
func (r Rate) Interval() time.Duration { return r.Per / time.Duration(r.Burst) }

// String gives the form that UnmarshalText reads.
func (r Rate) String() string { return fmt.Sprintf("%d/%s", r.Burst, r.Per) }

// UnmarshalYAML reads what UnmarshalText reads, and names the line of what is
// wrong.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	if err := r.UnmarshalText([]byte(n.Value)); err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", n.Line, err)}}
	}
	return nil
}

// UnmarshalText reads 30/1m or 30/m.
func (r *Rate) UnmarshalText(text []byte) error {
	count, per, ok := strings.Cut(string(text), "/")
	if per != "" && (per[0] < '0' || per[0] > '9') {
		per = "1" + per
	}
	n, err := strconv.Atoi(count)
	d, err2 := time.ParseDuration(per)
	got := Rate{Burst: n, Per: d}
	if !ok || err != nil || err2 != nil || !got.Valid() {
		return fmt.Errorf("%q is not a rate such as 30/m or 100/1h", clip(string(text), 80))
	}
	*r = got
	return nil
}

// Limits are rates by action; * in an action stands for any part, and where
// several match the longest pattern counts. They add to DefaultLimits and
// replace those of the same pattern.
type Limits map[string]Rate

// DefaultLimits bound each caller, a person and agent taken together, in each
// action that changes something.
func DefaultLimits() Limits {
	return Limits{"*": {Burst: 60, Per: time.Minute}, string(RefreshCatalog): {Burst: 30, Per: time.Minute},
		string(RegisterCatalog): {Burst: 60, Per: 10 * time.Minute}, string(ProposeChange): {Burst: 30, Per: 10 * time.Minute},
		string(SearchExternal): {Burst: 30, Per: time.Hour}, string(RequestCredentials): {Burst: 60, Per: 10 * time.Minute},
		// What is taken back too often does no harm.
		string(RevokeCredentials): {Burst: 600, Per: time.Minute}}
}

// with gives the limits with those of more put over them.
func (l Limits) with(more Limits) Limits {
	out := maps.Clone(l)
	maps.Copy(out, more)
	return out
}

// of gives the limit of an action and its pattern.
func (l Limits) of(action Action) (limit Rate, found bool) {
	best := ""
	for pattern, rate := range l {
		if glob(pattern, string(action)) && (!found || len(pattern) > len(best) || len(pattern) == len(best) && pattern > best) {
			best, limit, found = pattern, rate, true
		}
	}
	return limit, found
}

func (l Limits) validate(ps *Problems, path string) {
	for _, pattern := range slices.Sorted(maps.Keys(l)) {
		field := fmt.Sprintf("%s[%s]", path, clip(pattern, 80))
		if !slices.ContainsFunc(Actions(), func(a Action) bool { return glob(pattern, string(a)) }) {
			ps.add(field, "Known: "+joinActions()+"; * stands for any part.", "the pattern matches no action")
		}
		if !l[pattern].Valid() {
			ps.add(field, "Write for example 30/1m.", "%s is no rate that can be metered", l[pattern])
		}
	}
}

// quotaKey names what one caller has left of one action.
func quotaKey(who Caller, action Action) string {
	return fmt.Sprintf("%s %q %q", action, who.Subject(), who.Agent())
}
