package render

import "time"

// Revisions are the revisions of a service's repository, as the server tells of
// them.
type Revisions struct {
	DefaultBranch string       `json:"defaultBranch"`
	Branches      RevisionList `json:"branches"`
	Tags          RevisionList `json:"tags"`
	Commits       RevisionList `json:"commits"`
}

// RevisionList is one kind of them.
type RevisionList struct {
	Items []struct {
		Name   string    `json:"name"`
		Commit string    `json:"commit"`
		Title  string    `json:"title"`
		Author string    `json:"author"`
		At     time.Time `json:"at"`
	} `json:"items"`
	More bool `json:"more"`
}

// Revisions writes branches, tags and commits, a line each.
func (p *Page) Revisions(it *Revisions) {
	for _, kind := range []struct {
		name string
		list RevisionList
	}{{"Branches", it.Branches}, {"Tags", it.Tags}, {"Commits", it.Commits}} {
		if len(kind.list.Items) == 0 {
			continue
		}
		p.Heading(kind.name)
		p.Indented(func() {
			rows := make([][]Cell, len(kind.list.Items))
			for i, r := range kind.list.Items {
				at, name := "", Cell{r.Name, p.Bold}
				if !r.At.IsZero() {
					at = r.At.UTC().Format(time.DateOnly)
				}
				if r.Name == r.Commit { // it is told beside it
					name.Text = r.Name[:min(len(r.Name), 12)]
				}
				rows[i] = []Cell{name, {r.Commit[:min(len(r.Commit), 12)], p.Dim}, {at, p.Dim}, {r.Author, nil}, {r.Title, nil}}
			}
			p.Rows(rows)
			if kind.list.More {
				p.Line(p.Dim("… and more"))
			}
		})
	}
}
