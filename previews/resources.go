package previews

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// ListResourcesInput selects previews that are there.
type ListResourcesInput struct {
	Service string `json:"service,omitempty" jsonschema:"only of this component"`
	Limit   int    `json:"limit,omitempty" jsonschema:"1 to 200, default 50"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// ResourcesPage is a page of previews and what they take, newest first.
type ResourcesPage struct {
	Items      []Running `json:"items"`
	NextCursor string    `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// Running is a preview and what it takes, where its deployer knows that.
type Running struct {
	Preview   Preview      `json:"preview"`
	Resources *Consumption `json:"resources,omitempty" jsonschema:"absent where nothing runs, or the deployer does not know"`
}

// Consumption is what a preview takes. Figures are floating-point numbers because
// those of GraphQL that are not have 32 bits.
type Consumption struct {
	CPUSeconds  float64 `json:"cpuSeconds" jsonschema:"processor time since its processes were started"`
	MemoryBytes float64 `json:"memoryBytes"`
	DiskBytes   float64 `json:"diskBytes"`
	Processes   int     `json:"processes"`
	At          string  `json:"at" jsonschema:"when that was so, RFC 3339 in UTC with fractions of a second"`
}

// measureTimeout bounds measuring one preview, and measures how many are
// measured at once.
const (
	measureTimeout = 3 * time.Second
	measures       = 8
)

// ListResources lists previews that are not gone with what each takes. Faults:
// invalid (a field).
func (s *Service) ListResources(ctx context.Context, who access.Caller, in ListResourcesInput) (*ResourcesPage, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	found, places, next, err := s.page(ctx, who, ListInput{Service: in.Service, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := &ResourcesPage{Items: make([]Running, len(found)), NextCursor: next}
	var wg beside.All
	slots := make(chan struct{}, measures)
	for i := range found {
		r, item := &found[i], &out.Items[i]
		item.Preview = *r.queued(places[r.ID])
		meter, ok := s.cfg.Deployers[r.Template.Deployer].(Meter)
		if !ok || r.Phase == Pending {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			item.Resources = measured(ctx, meter, r)
		})
	}
	wg.Wait()
	return out, ctx.Err()
}

// measured is nil where a deployer does not know: a figure that is missing
// keeps nobody from seeing the others.
func measured(ctx context.Context, meter Meter, r *Record) (out *Consumption) {
	_ = bounded(ctx, "the deployer "+r.Template.Deployer, measureTimeout, func(ctx context.Context) error {
		m, ok, err := meter.Measure(ctx, r.Wish)
		if ok && err == nil {
			out = &Consumption{CPUSeconds: m.CPU.Seconds(), MemoryBytes: float64(m.MemoryBytes), DiskBytes: float64(m.DiskBytes), Processes: m.Processes, At: m.At.UTC().Format(time.RFC3339Nano)}
		}
		return err
	})
	return out
}
