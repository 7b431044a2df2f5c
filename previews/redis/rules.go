package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// granted are the categories of commands that a preview may use, and then what
// of them it may not. Redis checks keys and channels of commands that name
// them, so that what is left to take away names none: it tells of the whole
// server, changes it, or leads to another database, where keys of the prefix
// would not be found when they are to be removed.
func granted() []string {
	return strings.Fields(`-@all
		+@read +@write +@keyspace +@string +@hash +@list +@set +@sortedset +@stream +@bitmap +@hyperloglog +@geo
		+@pubsub +@transaction +@scripting +@blocking +@connection
		-@admin -@dangerous
		-keys -scan -randomkey -dbsize -flushall -flushdb -swapdb -select -move -copy -sort -sort_ro
		-pubsub
		-client|tracking -client|trackinginfo -client|caching -client|getredir -client|list -client|kill -client|pause -client|unpause -client|unblock -client|no-evict
		-script|flush -script|kill -script|debug
		-function -fcall -fcall_ro`)
}

// rules are the arguments of ACL SETUSER: they say all of a user, whatever it
// was before. Of the password the server is given the sum alone.
func rules(prefix string, password access.Secret, modules []string) []string {
	out := []string{"reset", "on", "#" + passwordSum(password), "resetkeys", "~" + prefix + "*", "resetchannels", "&" + prefix + "*"}
	out = append(out, granted()...)
	for _, command := range modules {
		out = append(out, "-"+command)
	}
	return out
}

// passwordSum is what Redis keeps of a password.
func passwordSum(password access.Secret) string {
	sum := sha256.Sum256([]byte(password.Reveal()))
	return hex.EncodeToString(sum[:])
}

// moduleCommands are the commands that modules bring: they are in the same
// categories, and some search all keys whatever a user may read.
func (p *Provider) moduleCommands(ctx context.Context) ([]string, error) {
	modules, err := p.admin.Do(ctx, "MODULE", "LIST").Slice()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range modules {
		name, _ := fields(m)["name"].(string)
		commands, err := p.admin.Do(ctx, "COMMAND", "LIST", "FILTERBY", "MODULE", name).StringSlice()
		if err != nil {
			return nil, err
		}
		out = append(out, commands...)
	}
	slices.Sort(out)
	return out, nil
}

// fields reads an answer of names and values.
func fields(answer any) map[string]any {
	list, _ := answer.([]any)
	out := make(map[string]any, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		if name, ok := list[i].(string); ok {
			out[name] = list[i+1]
		}
	}
	return out
}

// account is what the server says of a user.
type account struct {
	there, on, nopass bool
	passwords         []string
}

func (a account) flagged(answer any) account {
	flags, _ := answer.([]any)
	a.on, a.nopass = slices.Contains(flags, any("on")), slices.Contains(flags, any("nopass"))
	return a
}

// fenced refuses a server in which previews could become somebody else, or
// that does not check what they do.
func (p *Provider) fenced(ctx context.Context) error {
	info, err := p.admin.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	about := map[string]string{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		about[name] = value
	}
	major, _, _ := strings.Cut(about["redis_version"], ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		return fault.New(fault.FailedPrecondition, "the Redis server %s is of version %.20q, which does not keep previews apart", p.cfg.Name, about["redis_version"]).
			WithFix("Have the operators run version 7 or later.")
	}
	if mode := about["redis_mode"]; mode != "standalone" {
		return fault.New(fault.FailedPrecondition, "the Redis server %s runs as %.20q, in which keys cannot be seen to be gone", p.cfg.Name, mode).
			WithFix("Have the operators name a server that is no cluster and no sentinel.")
	}
	anybody, err := p.account(ctx, "default")
	if err == nil && anybody.on && anybody.nopass {
		return fault.New(fault.FailedPrecondition, "the Redis server %s lets anybody in as its user default without a password, and so previews", p.cfg.Name).
			WithFix("Have the operators give it a password (requirepass), or run: ACL SETUSER default off")
	}
	return err
}
