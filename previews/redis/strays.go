package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// ours are the users that this Fairlead has made, of one preview or of all
// where id is "".
func (p *Provider) ours(ctx context.Context, id string) ([]string, error) {
	users, err := p.admin.Do(ctx, "ACL", "USERS").StringSlice()
	return slices.DeleteFunc(users, func(user string) bool { return !strings.HasPrefix(user, p.users(id)) }), err
}

// Strays are the previews whose users or keys are in the server, and that
// known does not know. The whole server is looked through.
func (p *Provider) Strays(ctx context.Context, known func(id string) bool) ([]previews.Stray, error) {
	what, keys := map[string][]string{}, map[string]int{}
	users, err := p.ours(ctx, "")
	for _, user := range users {
		id, _, _ := strings.Cut(strings.TrimPrefix(user, p.users("")), "_")
		what[id] = append(what[id], "user "+user+" of Redis server "+p.cfg.Name)
	}
	if err == nil {
		err = p.scan(ctx, p.keys(""), func(found []string) (bool, error) {
			for _, key := range found {
				id, _, _ := strings.Cut(strings.TrimPrefix(key, p.keys("")), ":")
				keys[id]++
			}
			return false, nil
		})
	}
	if err != nil {
		return nil, p.explain("looking for", err)
	}
	for id, n := range keys {
		what[id] = append(what[id], fmt.Sprintf("%d keys %s*", n, p.keys(id)))
	}
	var out []previews.Stray
	for _, id := range slices.Sorted(maps.Keys(what)) {
		if plain.MatchString(id) && !known(id) {
			out = append(out, previews.Stray{ID: id, Wish: previews.Wish{ID: id}, What: what[id]})
		}
	}
	return out, nil
}

// RemoveStray removes all users and keys of a preview.
func (p *Provider) RemoveStray(ctx context.Context, id string) error {
	if !plain.MatchString(id) {
		return fault.New(fault.Invalid, "%.100q is no id of a preview", id).WithFix("Take one that the sweep lists.")
	}
	users, err := p.ours(ctx, id)
	if err == nil {
		err = p.remove(ctx, users, p.keys(id))
	}
	if err != nil {
		return p.explain("removing", err)
	}
	return nil
}
