package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// Approvals writes requests for approval, newest first.
func (p *Page) Approvals(items []access.Approval) {
	rows := make([][]Cell, len(items))
	for i := range items {
		a := &items[i]
		may := ""
		if a.MayDecide {
			may = "yes"
		}
		rows[i] = []Cell{{a.ID, nil}, {string(a.State), p.approvalStyle(a.State)}, {p.Moment(a.ExpiresAt), nil}, {Requester(a), nil}, {may, p.Bold}, {a.Summary, nil}}
	}
	p.Table([]string{"ID", "STATE", "EXPIRES", "BY", "YOURS TO DECIDE", "SUMMARY"}, rows)
}

// Requester is who asked: the person, and the agent that acted for them.
func Requester(a *access.Approval) string {
	if a.Agent == "" {
		return a.Subject
	}
	return a.Agent + " for " + a.Subject
}

func (p *Page) approvalStyle(s access.ApprovalState) func(string) string {
	switch s {
	case access.ApprovalGranted, access.ApprovalUsed:
		return p.Good
	case access.ApprovalDenied:
		return p.Bad
	default:
		return p.Warn
	}
}

// Moment is a time to the second, "" for none.
func (*Page) Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Approval writes one request, with the whole plan.
func (p *Page) Approval(a *access.Approval) {
	rows := [][]Cell{{{"Request", p.Dim}, {a.ID, p.Bold}}, {{"State", p.Dim}, {string(a.State), p.approvalStyle(a.State)}}}
	for _, f := range [][2]string{
		{"What", a.Summary}, {"Action", string(a.Action)}, {"Target", a.Target}, {"Asked by", Requester(a)}, {"Asked", p.Moment(a.RequestedAt)}, {"Expires", p.Moment(a.ExpiresAt)},
		{"Rule", a.Rule}, {"For", strings.Join(a.Approvers, ", ")}, {"Decided by", a.DecidedBy}, {"Decided", p.Moment(a.DecidedAt)}, {"Reason", a.Reason}, {"Used", p.Moment(a.UsedAt)}, {"Plan hash", a.PlanHash},
	} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	whole := *p
	whole.width = 0 // who decides gets to read all of it
	whole.Rows(rows)
	p.err = whole.err
	p.Heading("Plan")
	var plan bytes.Buffer
	if json.Indent(&plan, a.Plan, "", "  ") != nil {
		plan.Write(a.Plan)
	}
	p.Indented(func() {
		for line := range strings.Lines(plan.String()) {
			p.Line(Clean(strings.TrimSuffix(line, "\n")))
		}
	})
	if a.MayDecide {
		p.Line()
		p.Line(p.Dim("fairlead approvals grant " + Clean(a.ID) + ", or deny"))
	}
}
