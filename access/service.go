package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Bounds of a page of audit entries.
const (
	defaultAudit = 50
	maxAudit     = 500
)

// cursorPrefix tells the audit's cursors from others.
const cursorPrefix = "audit:"

// Service answers what callers may ask of the lock itself.
type Service struct {
	policy *Policy
	audit  AuditReader
	now    func() time.Time

	appended *appended

	approvals Approvals // set by AttachApprovals
	guard     *Guard
}

// NewService makes the service; a nil policy is DefaultPolicy.
func NewService(policy *Policy, audit AuditReader) (*Service, error) {
	if audit == nil {
		return nil, errors.New("the access service needs an audit to read")
	}
	if policy == nil {
		policy = DefaultPolicy()
	}
	return &Service{policy: policy, audit: audit, now: time.Now, appended: watched(audit)}, nil
}

// WhoamiInput asks for nothing in particular.
type WhoamiInput struct{}

// Identity is who the caller is taken for and what they may do.
type Identity struct {
	Subject   string       `json:"subject" jsonschema:"the person or machine, empty for an anonymous caller"`
	Agent     string       `json:"agent,omitempty" jsonschema:"the agent acting for the subject"`
	Anonymous bool         `json:"anonymous,omitempty"`
	Token     string       `json:"token,omitempty" jsonschema:"the name of the credential shown"`
	Groups    []string     `json:"groups"`
	Roles     []string     `json:"roles"`
	Actions   []Permission `json:"actions" jsonschema:"what the caller may do; what is not listed is refused"`
}

// Permission is an action and what the caller may do it to.
type Permission struct {
	Action Action `json:"action"`
	On     string `json:"on" jsonschema:"everything, or which entities"`
}

// Whoami tells who the caller is taken for and what they may do.
func (s *Service) Whoami(_ context.Context, who Caller, _ WhoamiInput) (*Identity, error) {
	if who.IsZero() {
		return nil, nobody()
	}
	id := &Identity{
		Subject: who.Subject(), Agent: who.Agent(), Anonymous: who.Anonymous(), Token: who.Token(),
		Groups: append([]string{}, who.Groups()...), Roles: append([]string{}, who.Roles()...), Actions: []Permission{},
	}
	for _, action := range Actions() {
		if on := s.extent(who, action); on != "" {
			id.Actions = append(id.Actions, Permission{Action: action, On: on})
		}
	}
	return id, nil
}

// extent says in words what the caller may do the action to, "" for nothing.
func (s *Service) extent(who Caller, action Action) string {
	scope := s.policy.Scope(who, action)
	switch {
	case action == ReadSchema && !s.policy.Allow(who, action, Attributes{}).Allowed:
		return "" // nothing of it has an owner
	case action == ReadSelf, action == ReadSchema, scope.All() && action != DecideApprovals:
		return "everything"
	case action == ReadAudit && !s.readsAudit(who):
		if who.Anonymous() {
			return ""
		}
		return "your own acts"
	case action == ReadApprovals && !scope.All() && !who.Anonymous():
		return "your own requests, those you may decide on" + prefixed(", and those on ", scope.words())
	case (action == ReadCredentials || action == RevokeCredentials) && !scope.All() && !who.Anonymous() && len(scope.deny) == 0:
		return "leases that you hold" + prefixed(", and those of ", scope.words())
	case action == DecideApprovals:
		if who.Anonymous() || who.Agent() != "" || !strings.HasPrefix(who.Subject(), "user:") || !s.policy.asks(who) {
			return ""
		}
		return "requests of others that name you, or a group or role of yours"
	default:
		return scope.words()
	}
}

func prefixed(with, text string) string {
	if text == "" {
		return ""
	}
	return with + text
}

// words describes a scope, "" if it holds nothing.
func (s Scope) words() string {
	if s.None() {
		return ""
	}
	text := selectorWords(s.allow)
	if s.all {
		text = "everything"
	}
	if len(s.deny) > 0 {
		text += ", except " + selectorWords(s.deny)
	}
	return text
}

func selectorWords(grants []grant) string {
	var out []string
	for _, t := range texts(grants) {
		out = append(out, strings.NewReplacer(`"`, "", "{", "entities with ", "}", "", ":[", " ", "]", "", ",", ", ").Replace(t))
	}
	return strings.Join(out, "; or ")
}

func nobody() error {
	return fault.New(fault.Unauthenticated, "it is not known who asks").WithFix("Send the header Authorization: Bearer TOKEN.")
}

// readsAudit tells whether the caller may read everybody's acts.
func (s *Service) readsAudit(who Caller) bool {
	return s.policy.Allow(who, ReadAudit, Attributes{}).Allowed
}

// ListAuditInput selects audit entries; a field left out selects all.
type ListAuditInput struct {
	Subject string `json:"subject,omitempty" jsonschema:"only acts of this person or machine, an entity reference"`
	Agent   string `json:"agent,omitempty" jsonschema:"only acts by this agent; * for those by any agent"`
	Action  string `json:"action,omitempty" jsonschema:"only this action, for example catalog.refresh"`
	Target  string `json:"target,omitempty" jsonschema:"only acts on this, as the entries name it"`
	Status  string `json:"status,omitempty" jsonschema:"only acts that ended so: ok, refused, failed or unknown"`
	Since   string `json:"since,omitempty" jsonschema:"at or after this time, RFC 3339, or how long ago, for example 24h"`
	Until   string `json:"until,omitempty" jsonschema:"before this time, RFC 3339, or how long ago"`
	Limit   int    `json:"limit,omitempty" jsonschema:"entries per page, 1 to 500, default 50"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// AuditPage is a page of audit entries, newest first.
type AuditPage struct {
	Items      []Entry `json:"items"`
	NextCursor string  `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// ListAudit lists acts, newest first. Those whom policy does not allow
// audit.read see the acts of their own subject alone. Faults: unauthenticated,
// forbidden (acts of another), invalid (a field), unavailable.
func (s *Service) ListAudit(ctx context.Context, who Caller, in ListAuditInput) (*AuditPage, error) {
	if who.IsZero() || who.Anonymous() {
		return nil, nobody()
	}
	q, err := s.query(in)
	if err != nil {
		return nil, err
	}
	if !s.readsAudit(who) {
		if q.Subject != "" && q.Subject != who.Subject() {
			return nil, fault.New(fault.Forbidden, "%s may read the audit of their own acts, not of %s", describe(who), q.Subject).
				WithFix("Leave subject out, or ask for a role that allows audit.read, such as sre.")
		}
		q.Subject = who.Subject()
	}
	limit := q.Limit
	q.Limit++ // one more tells whether there is a next page
	items, err := s.audit.Audit(ctx, q)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the audit could not be read").WithFix("Try again in a moment.").Because(err)
	}
	page := &AuditPage{Items: items}
	if len(items) > limit {
		page.Items = items[:limit]
		page.NextCursor = cursorPrefix + items[limit-1].ID
	}
	if page.Items == nil {
		page.Items = []Entry{}
	}
	return page, nil
}

// query checks the input.
func (s *Service) query(in ListAuditInput) (q AuditQuery, err error) {
	q = AuditQuery{Agent: in.Agent, Action: Action(in.Action), Target: in.Target, Status: Status(in.Status), Limit: in.Limit}
	if !slices.Contains([]Status{"", StatusOK, StatusRefused, StatusFailed, StatusUnknown}, q.Status) {
		return q, fault.New(fault.Invalid, "status: %q is no way that an act ends", clip(in.Status, 80)).WithFix("Write ok, refused, failed or unknown, or leave it out for all.")
	}
	var ok bool
	if q.Before, ok = strings.CutPrefix(in.Cursor, cursorPrefix); in.Cursor != "" && (!ok || q.Before == "") {
		return q, fault.New(fault.Invalid, "cursor %q is not one of the audit's", clip(in.Cursor, 80)).WithFix("Give nextCursor of the page before as it is, or leave cursor out for the first page.")
	}
	if in.Subject != "" {
		if q.Subject, err = fullRef(in.Subject, "user"); err != nil {
			return q, fault.New(fault.Invalid, "subject: %v", err).WithFix("Write for example user:default/alice.")
		}
	}
	for field, v := range map[string]string{"agent": in.Agent, "action": in.Action, "target": in.Target, "cursor": in.Cursor} {
		if !plainText(v) {
			return q, fault.New(fault.Invalid, "%s is longer than %d bytes or holds control characters", field, maxText).WithFix("Give it as an entry of the audit shows it.")
		}
	}
	if q.Since, err = s.moment("since", in.Since); err != nil {
		return q, err
	}
	if q.Until, err = s.moment("until", in.Until); err != nil {
		return q, err
	}
	q.Limit, err = auditLimit(in.Limit)
	return q, err
}

// plainText tells whether a field can be a text of the audit.
func plainText(v string) bool {
	return len(v) <= maxText && utf8.ValidString(v) && !strings.ContainsFunc(v, unicode.IsControl)
}

// auditLimit is the size of a page, given what was asked for.
func auditLimit(asked int) (int, error) {
	switch {
	case asked == 0:
		return defaultAudit, nil
	case asked < 0 || asked > maxAudit:
		return 0, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", asked, maxAudit).WithFix("Ask for at most %d and go on with the cursor.", maxAudit)
	}
	return asked, nil
}

// moment reads a time, or how long ago; "" is the zero time.
func (s *Service) moment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return s.now().Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		return at, fault.New(fault.Invalid, "%s: %s is neither a time nor how long ago", field, fmt.Sprintf("%q", clip(text, 80))).WithFix("Write for example 2026-01-31T12:00:00Z or 24h.")
	}
	return at, nil
}
