package argo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// explain is an error of Argo CD's in our terms. What it says of an application
// or its repository is kept: the deployer makes sense of it.
func (c *Client) explain(doing string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s, _ := status.FromError(err)
	text := s.Message()
	said := func(code fault.Code) *fault.Error {
		return fault.New(code, "%s: Argo CD %s says: %s", doing, c.cfg.Name, text).Because(err)
	}
	switch s.Code() {
	case codes.NotFound:
		return said(fault.NotFound)
	case codes.Unauthenticated:
		return c.unauthenticated(doing, err)
	case codes.PermissionDenied:
		// It is also what Argo CD says when its own cluster does not answer.
		return fault.New(fault.Unavailable, "%s: Argo CD %s denies it to the account of Fairlead's token, or cannot read its applications now", doing, c.cfg.Name).
			WithFix("Have the account allowed get, create, update and delete on applications of the project of previews, and get on their logs; check the cluster that Argo CD runs in.").Because(err)
	case codes.InvalidArgument:
		if strings.Contains(text, "not found as part of application") {
			return said(fault.NotFound)
		}
		return said(fault.FailedPrecondition)
	case codes.Canceled:
		return context.Canceled
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	case codes.Unavailable:
		if _, e := c.cfg.Token(); e != nil {
			return c.unauthenticated(doing, e)
		}
		return fault.New(fault.Unavailable, "%s: Argo CD %s at %s does not answer", doing, c.cfg.Name, c.cfg.Server).
			WithFix("Check that it runs, and server, caFile and plaintext in the section argocd.").Because(err)
	default:
		if strings.Contains(text, " not found") && strings.Contains(text, "error getting resource") {
			return said(fault.NotFound)
		}
		return said(fault.Unavailable)
	}
}

func (c *Client) unauthenticated(doing string, err error) error {
	where := fmt.Sprintf("the environment variable %s", c.cfg.TokenEnv)
	if c.cfg.TokenFile != "" {
		where = "the file " + c.cfg.TokenFile
	}
	return fault.New(fault.Unavailable, "%s: Argo CD %s does not take Fairlead's token", doing, c.cfg.Name).
		WithFix("Put a token of an account of Argo CD's there that has not expired: %s.", where).Because(err)
}
