package client

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Refusal is the fault that an answer other than 2xx carries, or the one that
// its status stands for.
func (c *Client) Refusal(res *http.Response, body []byte) *fault.Error {
	var answer struct {
		Error *fault.Error `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	f := answer.Error
	if err != nil || f == nil || f.Code == "" || f.Message == "" {
		f = c.byStatus(res)
	}
	if f.Code == fault.Unauthenticated {
		f = c.unauthenticated(f)
	}
	if after := retryAfter(res, f); after > 0 {
		f.RetryAfter = after
		if f.Fix == "" {
			f = f.WithFix("Try again in %s.", after)
		}
	}
	return f
}

// unauthenticated tells a person how a token is given here, which the server
// cannot know.
func (c *Client) unauthenticated(f *fault.Error) *fault.Error {
	if c.settings.Token == "" {
		return f.WithFix("Run `fairlead login --server %s`, or give a token with --token-file or FAIRLEAD_TOKEN.", c.settings.Server)
	}
	return f.WithFix("The token came from %s: run `fairlead login --server %s` with a token that this server knows.", c.settings.TokenFrom, c.settings.Server)
}

func (c *Client) byStatus(res *http.Response) *fault.Error {
	say := func(code fault.Code, text, fix string) *fault.Error {
		return fault.New(code, "%s %s (status %d)", c.settings.Server, text, res.StatusCode).WithFix("%s", fix)
	}
	switch s := res.StatusCode; {
	case s/100 == 3:
		to := res.Header.Get("Location")
		return fault.New(fault.Invalid, "%s sends callers on to %q", c.settings.Server, to).WithFix("Name the right server with --server.")
	case s == http.StatusUnauthorized:
		return say(fault.Unauthenticated, "does not know who asks", "")
	case s == http.StatusForbidden:
		return say(fault.Forbidden, "refused the request", "Ask for access, or check what stands in front of the server.")
	case s == http.StatusNotFound:
		return say(fault.Unavailable, "has no such operation", "Check that --server names a Fairlead server of this version or later.")
	case s == http.StatusRequestEntityTooLarge:
		return say(fault.Invalid, "finds the request too large", "Send less at once.")
	case s == http.StatusTooManyRequests:
		return say(fault.QuotaExceeded, "gets too many requests", "Try again later.")
	case s/100 == 4:
		return say(fault.Invalid, "did not understand the request", "Use versions of fairlead and fairleadd that belong together.")
	default:
		return say(fault.Unavailable, "has trouble of its own", "Try again; if it stays, tell its operators.")
	}
}

// retryAfter is when trying again makes sense, 0 if nobody says.
func retryAfter(res *http.Response, f *fault.Error) time.Duration {
	if text, ok := f.Details["retryAfter"].(string); ok {
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 && s < 1<<20 {
		return time.Duration(s) * time.Second
	}
	return 0
}
