package mcp

import (
	"context"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// progressPause is the least time between two reports that a client gets;
// those between are left out, but for the last.
const progressPause = 50 * time.Millisecond

// progressing gives the context in which an operation's reports go to the
// client that asked for them.
func progressing(ctx context.Context, meta *mcpgo.Meta) context.Context {
	if meta == nil || meta.ProgressToken == nil {
		return ctx
	}
	req := front.RequestOf(ctx)
	var mu sync.Mutex
	var last time.Time
	done := -1.0
	return access.WithProgress(ctx, func(p access.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Done <= done || p.Done < p.Total && time.Since(last) < progressPause {
			return // the protocol wants it to grow
		}
		done, last = p.Done, time.Now()
		params := map[string]any{"progressToken": meta.ProgressToken, "progress": p.Done}
		if p.Total > 0 {
			params["total"] = p.Total
		}
		if p.Message != "" {
			params["message"] = p.Message
		}
		_ = req.Send(front.Notification("notifications/progress", params)) // a client that has gone needs no reports
	})
}
