package postgres

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/previews"
)

// owned is a role of ours, whose database may be there.
type owned struct {
	name  string
	label label
	size  int64
	what  []string
}

// ours are the roles that this Fairlead has made, by their labels.
func (p *Provider) ours(ctx context.Context) (out []owned, err error) {
	err = p.admin(ctx, func(s *session) error {
		found, err := s.rows(ctx, `SELECT r.rolname, shobj_description(r.oid, 'pg_authid'), d.oid IS NOT NULL, CASE WHEN has_database_privilege(d.oid, 'CONNECT') THEN pg_database_size(d.oid) ELSE 0 END
			FROM pg_roles r LEFT JOIN pg_database d ON d.datname = r.rolname WHERE starts_with(r.rolname::text, $1) ORDER BY 1`, prefix)
		if err != nil {
			return err
		}
		out = out[:0]
		for _, f := range found {
			o := owned{name: f[0], label: readLabel(f[1]), what: []string{"role " + f[0] + " of PostgreSQL server " + p.cfg.Name}}
			if o.label.Fairlead != p.installation || o.label.Preview == "" {
				continue
			}
			if f[2] == "t" {
				o.what = append(o.what, "database "+f[0])
			}
			o.size = atoi(f[3])
			out = append(out, o)
		}
		return nil
	})
	return out, err
}

// Strays are the previews whose databases or roles are in the server, and that
// known does not know.
func (p *Provider) Strays(ctx context.Context, known func(id string) bool) ([]previews.Stray, error) {
	all, err := p.ours(ctx)
	if err != nil {
		return nil, p.explain("looking for", err)
	}
	var out []previews.Stray
	at := map[string]int{}
	for _, o := range all {
		id := o.label.Preview
		if known(id) {
			continue
		}
		if _, there := at[id]; !there {
			at[id] = len(out)
			out = append(out, previews.Stray{ID: id, Wish: previews.Wish{ID: id, Service: o.label.Service}})
		}
		stray := &out[at[id]]
		stray.What = append(stray.What, o.what...)
		stray.Bytes += o.size
	}
	return out, nil
}

// RemoveStray drops all databases and roles of a preview.
func (p *Provider) RemoveStray(ctx context.Context, id string) error {
	all, err := p.ours(ctx)
	if err != nil {
		return p.explain("looking for", err)
	}
	var errs []error
	for _, o := range all {
		if o.label.Preview == id {
			errs = append(errs, p.Remove(ctx, previews.Wish{ID: id}, previews.DataTemplate{Name: o.label.Data}))
		}
	}
	return errors.Join(errs...)
}
