package render

import (
	"cmp"
	"strings"
)

// Lease is a credential on loan as the server tells of it.
type Lease struct {
	Lease       string `json:"lease"`
	Service     string `json:"service"`
	Name        string `json:"name"`
	Environment string `json:"environment"`
	State       string `json:"state"`
	ExpiresAt   string `json:"expiresAt"`
	Wrapping    string `json:"wrapping"`
	Owner       string `json:"owner"`
	Person      string `json:"person"`
	Agent       string `json:"agent"`
	Purpose     string `json:"purpose"`
	Task        string `json:"task"`
	BoundTo     string `json:"boundTo"`
	CreatedAt   string `json:"createdAt"`
	EndedAt     string `json:"endedAt"`
	EndedBy     string `json:"endedBy"`
	Reason      string `json:"reason"`
	Overdue     bool   `json:"overdue"`
	Alarm       bool   `json:"alarm"`
}

func (p *Page) leaseState(it *Lease) Cell {
	switch {
	case it.Alarm:
		return Cell{it.State + ", opened by somebody else", p.Bad}
	case it.Overdue:
		return Cell{it.State + ", overdue", p.Bad}
	case it.State == "live":
		return Cell{it.State, p.Good}
	case it.State == "failed":
		return Cell{it.State, p.Bad}
	case it.State == "issuing", it.State == "revoking":
		return Cell{it.State, p.Warn}
	}
	return Cell{it.State, p.Dim}
}

// Leases writes leases, a line each.
func (p *Page) Leases(items []Lease) {
	rows := make([][]Cell, len(items))
	for i := range items {
		it := &items[i]
		rows[i] = append([]Cell{{it.Lease, nil}, {it.Service, nil}, {it.Name, nil}, {it.Environment, nil}, p.leaseState(it)},
			Texts(cmp.Or(it.EndedAt, it.ExpiresAt), it.Person, it.Agent, it.BoundTo, cmp.Or(it.Task, it.Purpose, it.Reason))...)
	}
	p.Table([]string{"LEASE", "SERVICE", "NAME", "ENVIRONMENT", "STATE", "ENDS", "PERSON", "AGENT", "BOUND TO", "TASK OR REASON"}, rows)
}

// Lease writes one lease.
func (p *Page) Lease(it *Lease) {
	rows := [][]Cell{{{"Lease", p.Dim}, {it.Lease, p.Bold}}, {{"State", p.Dim}, p.leaseState(it)}}
	for _, f := range [][2]string{{"Reason", it.Reason}, {"Service", it.Service}, {"Name", it.Name}, {"Environment", it.Environment}, {"Ends", it.ExpiresAt}, {"Bound to", it.BoundTo},
		{"Wrapping", it.Wrapping}, {"Owner", it.Owner}, {"Person", it.Person}, {"Agent", it.Agent}, {"Purpose", it.Purpose}, {"Task", it.Task}, {"Created", it.CreatedAt},
		{"Ended", strings.TrimSuffix(it.EndedAt+" by "+it.EndedBy, " by ")}} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	p.Rows(rows)
}
