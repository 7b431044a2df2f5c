package knowledge

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// maxRunbooks is how many runbooks an alert is answered with.
const maxRunbooks = 5

// Rule is an alerting rule that names its runbook.
type Rule struct {
	// Alert is the alert's name, Runbook the URL that the rule gives.
	Alert, Runbook string
	// Source is where the rule is written.
	Source TextSource
}

// Rules are the alerting rules that were found in the sources.
type Rules interface {
	// Rules are those of an alert by its exact name.
	Rules(alert string) []Rule
}

// AttachRules tells the service of alerting rules, so that a runbook is found
// by the URL that a rule gives. Call it before the service is used.
func (s *Service) AttachRules(r Rules) { s.rules = r }

// FindRunbook finds the runbooks for an alert: those that its rules point to,
// and those that are called as the alert is; with the services that they are
// about, their owners, and handles of their sections. NotFound where there is
// none.
func (s *Service) FindRunbook(ctx context.Context, who access.Caller, in FindRunbookInput) (*Runbooks, error) {
	if s == nil {
		return nil, notThere()
	}
	key := document.AlertKey(in.Alert)
	if key == "" || len(in.Alert) > maxQuery {
		return nil, fault.New(fault.Invalid, "alert: %.60q is no name of an alert", in.Alert).WithFix("Give the name as the alert has it, for example HighErrorRate.")
	}
	r := s.reading(who)
	if err := r.ask(ctx, who, in.Service); err != nil {
		return nil, err
	}
	rules := map[*Card][]TextSource{}
	cards := r.ruled(strings.TrimSpace(in.Alert), rules)
	for _, c := range s.library.about(key) {
		if r.visible(c) && !slices.Contains(cards, c) {
			cards = append(cards, c)
		}
	}
	if len(cards) == 0 {
		return nil, fault.New(fault.NotFound, "there is no runbook for the alert %.100q", in.Alert).
			WithFix("Search with search_knowledge, or add a runbook named as the alert to the service's docs/runbooks.")
	}
	now := time.Now()
	slices.SortStableFunc(cards, func(a, b *Card) int {
		weight := func(c *Card) float64 { return r.nearTo(c) * r.freshness(c, now) * float64(1+min(len(rules[c]), 1)) }
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Path, b.Path))
	})
	out := &Runbooks{Alert: in.Alert}
	for _, c := range cards[:min(len(cards), maxRunbooks)] {
		item, err := r.runbook(ctx, c)
		if err != nil {
			return nil, err
		}
		item.Rules = rules[c]
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// ruled are the documents that an alert's rules point to.
func (r *reading) ruled(alert string, rules map[*Card][]TextSource) (out []*Card) {
	if r.rules == nil {
		return nil
	}
	for _, rule := range r.rules.Rules(alert) {
		c := r.byURL(rule.Runbook)
		if c == nil || !r.visible(c) {
			continue
		}
		if r.All() || r.Source(rule.Source.Name) {
			rules[c] = append(rules[c], rule.Source)
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// byURL finds the document of a page in a repository's web view: the one
// whose repository the URL begins with and whose path it ends with.
func (r *reading) byURL(page string) *Card {
	u, err := url.Parse(page)
	if err != nil || u.Host == "" {
		return nil
	}
	for _, sh := range r.library.of(func(_ string, s *shelf) bool { return ofRepository(s.state.URL, u) }) {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		for i := range parts {
			if c := sh.cards[strings.Join(parts[i:], "/")]; c != nil {
				return c
			}
		}
	}
	return nil
}

func ofRepository(repository string, page *url.URL) bool {
	u, err := url.Parse(strings.TrimSuffix(repository, ".git"))
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, page.Host) &&
		strings.HasPrefix(strings.ToLower(page.Path)+"/", strings.ToLower(strings.TrimSuffix(u.Path, "/"))+"/")
}

// runbook tells of a runbook and its sections.
func (r *reading) runbook(ctx context.Context, c *Card) (RunbookItem, error) {
	item := RunbookItem{Handle: handleOf(c, ""), Standing: r.standing(c, c.Line)}
	e, err := r.index.Text(ctx, c.ID)
	if err != nil || e == nil {
		return item, err
	}
	first := -1
	for i, s := range e.Sections {
		to := item.role(s.Role)
		if to == nil || *to != "" {
			continue
		}
		*to = handleOf(c, s.Anchor)
		if s.Role == document.Diagnosis || s.Role == document.Mitigation && first < 0 {
			first = i
		}
	}
	if first >= 0 {
		end := endOf(e.Sections, first)
		text := e.Text[e.Sections[first].Start:end]
		_, text, _ = strings.Cut(text, "\n") // the heading
		item.First = passage(text, nil)
	}
	return item, nil
}

func (r *RunbookItem) role(role document.Role) *string {
	switch role {
	case document.Meaning:
		return &r.Meaning
	case document.Impact:
		return &r.Impact
	case document.Diagnosis:
		return &r.Diagnosis
	case document.Mitigation:
		return &r.Mitigation
	default:
		return nil
	}
}
