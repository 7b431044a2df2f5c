package git

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type remote struct{ at address }

func newRemote(cfg SourceConfig, at address, include []string, dir, base string, limit *Limiter) *remote {
	return &remote{at}
}

func (r *remote) observe(ctx context.Context) (ingest.Revision, error) {
	return "", fault.New(fault.Unavailable, "remote repositories are not read yet")
}
func (r *remote) open(ctx context.Context, rev ingest.Revision) (*Tree, error) {
	return nil, fault.New(fault.Unavailable, "remote repositories are not read yet")
}
