package access

import "context"

// Part says that an act is part of another one, which began before and was
// decided on in whole: it takes nothing from the quota, and an approval of the
// whole counts for it where the same rule asks for one.
type Part struct {
	// Whole is the approval of the whole; zero where it needed none.
	Whole Grant
}

// Grant is an approval that was used up.
type Grant struct {
	// ID is the request's, Rule the policy rule that asked for it.
	ID   string `json:"id,omitempty"`
	Rule string `json:"rule,omitempty"`
}

type grantKey struct{}

// GrantOf is the approval that the act which runs under ctx has used up; zero
// where it needed none, and outside of one.
func GrantOf(ctx context.Context) Grant {
	g, _ := ctx.Value(grantKey{}).(Grant)
	return g
}

// covers tells whether the whole was approved by whom a part needs: those whom
// the same rule names for everything may decide on each part as well.
func (p *Part) covers(need *requirement) bool {
	return p != nil && p.Whole.ID != "" && p.Whole.Rule == need.rule
}
