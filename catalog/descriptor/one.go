package descriptor

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Check tells everything that is wrong with one entity as if it stood at a
// location, whatever the rules let in. Nothing is read, so that a placeholder
// counts as wrong.
func (p *Processor) Check(ctx context.Context, at Location, root *entity.Object) []entity.Problem {
	var c findings
	if checkEnvelope(&c, root); c.any() {
		return c.problems()
	}
	d := &Document{Stage: StageProcess, Ref: identity(root).Canonical(), Raw: root}
	return p.Process(ctx, &File{At: at, addresses: p.addressesOf(at)}, d, at, nil).Problems
}

// Forge is the software that serves a host, one of ForgeNames; "" where
// nothing is known of it.
func (p *Processor) Forge(host string) string { return string(p.forges[strings.ToLower(host)]) }
