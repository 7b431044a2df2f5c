package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// explain is what callers are told of an error.
func (p *Provider) explain(step string, err error) error {
	var f *fault.Error
	var answer redis.Error
	says := func(prefixes ...string) bool {
		for _, prefix := range prefixes {
			if redis.HasErrorPrefix(err, prefix) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case says("WRONGPASS", "NOAUTH"):
		return fault.New(fault.Unavailable, "the Redis server %s does not let Fairlead's administrator in", p.cfg.Name).
			WithFix("Have the operators check user and password of %s.", section).Because(err)
	case says("NOPERM"):
		return fault.New(fault.FailedPrecondition, "%s a cache in the Redis server %s is not allowed to Fairlead's administrator", step, p.cfg.Name).
			WithFix("Have the operators let it run: ACL SETUSER … on ~pv:* &* +acl +info +module|list +command +scan +unlink").Because(err)
	case errors.As(err, &answer):
		return fault.New(fault.Unavailable, "%s a cache in the Redis server %s did not work", step, p.cfg.Name).
			WithFix("It is tried again; the operators find the server's answer in Fairlead's log.").Because(err)
	default:
		return fault.New(fault.Unavailable, "the Redis server %s cannot be reached", p.cfg.Name).
			WithFix("It is tried again; have the operators check that it runs and that %s names it.", section).Because(err)
	}
}
