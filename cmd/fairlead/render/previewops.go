package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// RunningPreview is a preview and what it takes, as the server tells of it.
type RunningPreview struct {
	Preview   Preview `json:"preview"`
	Resources *struct {
		CPUSeconds  float64   `json:"cpuSeconds"`
		MemoryBytes float64   `json:"memoryBytes"`
		DiskBytes   float64   `json:"diskBytes"`
		Processes   int       `json:"processes"`
		At          time.Time `json:"at"`
	} `json:"resources"`
	// CPUs is how many processors it kept busy since an earlier look, less
	// than 0 where that is not known.
	CPUs float64 `json:"-"`
}

// Since sets CPUs by an earlier look.
func (r *RunningPreview) Since(earlier []RunningPreview) {
	r.CPUs = -1
	i := slices.IndexFunc(earlier, func(e RunningPreview) bool { return e.Preview.ID == r.Preview.ID })
	if i < 0 || r.Resources == nil || earlier[i].Resources == nil {
		return
	}
	was := earlier[i].Resources
	passed := r.Resources.At.Sub(was.At).Seconds()
	if used := r.Resources.CPUSeconds - was.CPUSeconds; passed > 0 && used >= 0 { // else it was started anew
		r.CPUs = used / passed
	} else if passed == 0 {
		r.CPUs = earlier[i].CPUs
	}
}

// Top writes previews with what they take, and above them how many there are.
func (p *Page) Top(items []RunningPreview, now time.Time) {
	phases := map[string]int{}
	for _, it := range items {
		phases[it.Preview.Phase]++
	}
	parts := []string{count(len(items)) + " previews"}
	if len(items) == 1 {
		parts[0] = "1 preview"
	}
	for _, phase := range []string{"ready", "creating", "pending", "degraded", "failed", "deleting"} {
		if n := phases[phase]; n > 0 {
			c := p.phase(phase)
			parts = append(parts, c.Style(count(n)+" "+phase))
		}
	}
	p.Line(strings.Join(parts, " · "), "  ", p.Dim(now.UTC().Format(time.RFC3339)))
	if len(items) == 0 {
		return
	}
	rows := make([][]Cell, len(items))
	for i, it := range items {
		rows[i] = p.topRow(&it, now)
	}
	p.Table([]string{"ID", "SERVICE", "PHASE", "AGE", "LEFT", "CPU", "MEMORY", "DISK", "PROCS", "FOR"}, rows)
}

func (p *Page) topRow(it *RunningPreview, now time.Time) []Cell {
	pr := &it.Preview
	var cpu, memory, disk, procs string
	if r := it.Resources; r != nil {
		memory, disk, procs = Bytes(r.MemoryBytes), Bytes(r.DiskBytes), count(r.Processes)
		if cpu = "-"; it.CPUs >= 0 {
			cpu = fmt.Sprintf("%.0f %%", it.CPUs*100)
		}
	}
	whose := pr.Person
	if pr.Agent != "" {
		whose = pr.Agent + " for " + pr.Person
	}
	left := p.left(pr.ExpiresAt, now)
	if pr.EndsSoon && left.Style == nil {
		left.Style = p.Warn
	}
	return []Cell{{pr.ID, nil}, {strings.TrimPrefix(pr.Service, "component:default/"), nil}, p.phase(pr.Phase), {span(pr.CreatedAt, now), nil}, left,
		{cpu, nil}, {memory, nil}, {disk, nil}, {procs, nil}, {whose, nil}}
}

// left is how long there is until a time; what is over is bad.
func (p *Page) left(until string, now time.Time) Cell {
	t, err := time.Parse(time.RFC3339, until)
	switch {
	case err != nil:
		return Cell{}
	case t.Before(now):
		return Cell{"over by " + Brief(now.Sub(t)), p.Bad}
	}
	return Cell{Brief(t.Sub(now)), nil}
}

func span(since string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return ""
	}
	return Brief(max(0, now.Sub(t)))
}

// Brief writes a duration in its two largest units.
func Brief(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// Bytes writes a number of bytes in a unit that suits it.
func Bytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	if i == 0 || n >= 100 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}

// Stray is something left of a preview, as the server tells of it.
type Stray struct {
	ID        string   `json:"id"`
	Deployer  string   `json:"deployer"`
	Reason    string   `json:"reason"`
	What      []string `json:"what"`
	Service   string   `json:"service"`
	Person    string   `json:"person"`
	Agent     string   `json:"agent"`
	Since     string   `json:"since"`
	DiskBytes float64  `json:"diskBytes"`
}

// Strays writes what is left of previews.
func (p *Page) Strays(items []Stray, now time.Time) {
	for _, it := range items {
		p.Line(p.Bold(Clean(it.ID)), " at ", Clean(it.Deployer), p.Dim(" · "+Clean(it.Reason)))
		p.Indented(func() {
			var facts []string
			for _, f := range [][2]string{{"", it.Service}, {"for ", strings.TrimPrefix(it.Agent+" for "+it.Person, " for ")}, {"changed ", agoOf(it.Since, now)}} {
				if f[1] != "" && f[1] != " for " {
					facts = append(facts, f[0]+Clean(f[1]))
				}
			}
			if it.DiskBytes > 0 {
				facts = append(facts, Bytes(it.DiskBytes))
			}
			if len(facts) > 0 {
				p.Line(strings.Join(facts, " · "))
			}
			for _, what := range it.What {
				p.Line(Clean(what))
			}
		})
	}
}

func agoOf(since string, now time.Time) string {
	if s := span(since, now); s != "" {
		return s + " ago"
	}
	return ""
}

// UsageLine is what previews of somebody took, as the server tells of it.
type UsageLine struct {
	Name    string  `json:"name"`
	Now     int     `json:"now"`
	Oldest  string  `json:"oldest"`
	Created int     `json:"created"`
	Failed  int     `json:"failed"`
	Hours   float64 `json:"hours"`
	Peak    int     `json:"peak"`
	Cost    float64 `json:"cost"`
}

// Usage is a report of what previews took.
type Usage struct {
	Since    string      `json:"since"`
	Until    string      `json:"until"`
	Currency string      `json:"currency"`
	Total    UsageLine   `json:"total"`
	Teams    []UsageLine `json:"teams"`
	People   []UsageLine `json:"people"`
	Agents   []UsageLine `json:"agents"`
}

// Usage writes a report, by team, person or agent, or by all of them.
func (p *Page) Usage(u *Usage, by string) {
	p.Line(p.Dim(Clean(u.Since) + " to " + Clean(u.Until)))
	total := u.Total
	total.Name = "all"
	p.usage(u, "", []UsageLine{total})
	for _, part := range []struct {
		by, title string
		lines     []UsageLine
	}{{"team", "Teams", u.Teams}, {"person", "People", u.People}, {"agent", "Agents", u.Agents}} {
		if len(part.lines) > 0 && (by == part.by || by == "all") {
			p.usage(u, part.title, part.lines)
		}
	}
}

func (p *Page) usage(u *Usage, title string, lines []UsageLine) {
	if title != "" {
		p.Heading(title)
	}
	now, err := time.Parse(time.RFC3339, u.Until)
	if err != nil {
		now = p.now
	}
	rows := make([][]Cell, len(lines))
	for i, l := range lines {
		cost := ""
		if l.Cost > 0 {
			cost = strings.TrimSpace(fmt.Sprintf("%.2f %s", l.Cost, u.Currency))
		}
		rows[i] = Texts(cmp.Or(l.Name, "nobody"), count(l.Now), span(l.Oldest, now), count(l.Created), count(l.Failed), count(l.Peak), fmt.Sprintf("%.1f", l.Hours), cost)
	}
	p.Table([]string{"NAME", "NOW", "OLDEST", "CREATED", "FAILED", "PEAK", "HOURS", "COST"}, rows)
}
