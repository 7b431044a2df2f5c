package gitops

import (
	"context"
	"time"
)

// Notice is that somebody has to be told how a proposal ended.
type Notice struct {
	At time.Time `json:"at"`
}

// Receiver is told how proposals ended.
type Receiver struct{}

func (s *Service) tellReceivers(context.Context, *Record) time.Time { return time.Time{} }
