package front

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// recheck is how often the credential of a stream is checked again unless the
// configuration says otherwise.
const recheck = 5 * time.Second

// whileHeld is a context that ends, beside the usual, when the credential of a
// request holds no longer or stands for somebody else: a stream outlives many
// requests, and must not outlive the right to it. Where that cannot be told the
// stream goes on.
func (f *Front) whileHeld(ctx context.Context, r *http.Request, who access.Caller) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	r = r.Clone(ctx)
	beside.Go(ctx, f.cfg.Logger, "checking the credential of a stream again", func() {
		defer end()
		tick := time.NewTicker(f.cfg.Recheck)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, err := f.cfg.Authenticate(r)
			if err == nil && !reflect.DeepEqual(now, who) || fault.CodeOf(err) == fault.Unauthenticated {
				return
			}
		}
	})
	return ctx, end
}
