package render

// ForgeLinks are the forges, and what of the caller's is linked there.
type ForgeLinks struct {
	Items []ForgeLink `json:"items"`
}

// ForgeLink is a forge, and the caller's account there.
type ForgeLink struct {
	Forge    string   `json:"forge"`
	Linkable bool     `json:"linkable"`
	Account  string   `json:"account"`
	Since    string   `json:"since"`
	ID       string   `json:"id"`
	Pending  string   `json:"pending"`
	Notes    []string `json:"notes"`
}

// ForgeLinks writes what is linked.
func (p *Page) ForgeLinks(all *ForgeLinks) {
	var rows [][]Cell
	for _, l := range all.Items {
		as := Cell{"Fairlead's own account", p.Dim}
		switch {
		case l.Account != "":
			as = Cell{l.Account, p.Good}
		case l.Linkable:
			as = Cell{"Fairlead's own account; fairlead login --forge " + l.Forge + " links yours", p.Dim}
		}
		rows = append(rows, append([]Cell{{l.Forge, nil}, as}, Texts(l.Since, l.Pending)...))
	}
	p.Table([]string{"FORGE", "YOU PROPOSE AS", "SINCE", "BEING LINKED"}, rows)
}
