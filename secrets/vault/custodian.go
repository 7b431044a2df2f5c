package vault

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Unopened tells whether a wrapping is there still.
func (v *Vault) Unopened(ctx context.Context, accessor string) (bool, error) {
	_, err := v.look(ctx, accessor)
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// looksAtOnce is how many accounts are looked at at a time, and lookPause how
// long it takes until one that was refused is looked at once more.
const (
	looksAtOnce = 8
	lookPause   = 50 * time.Millisecond
)

// Accounts gives the accounts of this installation. Vault lists all tokens by
// their accessors alone, so each is looked at; memory does not grow with their
// number, but for the list.
func (v *Vault) Accounts(ctx context.Context, do func(secrets.Held) bool) error {
	c := call{method: methodList, path: "auth/token/accessors"}
	secret, err := v.own(ctx, c)
	if err != nil {
		return v.explain(c, err)
	}
	if secret == nil {
		return nil
	}
	all, _ := secret.Data["keys"].([]any)
	for some := range slices.Chunk(all, looksAtOnce) {
		helds, err := atOnce(some, func(a any) (account, error) {
			accessor, _ := a.(string)
			held, err := v.look(ctx, accessor)
			if fault.CodeOf(err) == fault.NotFound { // gone meanwhile
				err = nil
			}
			return held, err
		})
		if err != nil {
			return err
		}
		for _, h := range helds {
			if h.Lease != "" && !do(h.Held) {
				return nil
			}
		}
	}
	return nil
}

// account is a token as Vault knows it.
type account struct {
	secrets.Held
	// until is when it ends whatever is asked for; zero where nothing is said.
	until     time.Time
	renewable bool
}

// look looks at a token by its accessor. One that is used up is as good as gone.
func (v *Vault) look(ctx context.Context, accessor string) (account, error) {
	c := call{method: http.MethodPut, path: "auth/token/lookup-accessor", body: map[string]any{"accessor": accessor}}
	at := time.Now()
	secret, err := v.own(ctx, c)
	if statusOf(err) == http.StatusForbidden && !gone(err) { // of one that it is revoking at this moment Vault may say so, too
		select {
		case <-ctx.Done():
		case <-time.After(lookPause):
			secret, err = v.own(ctx, c)
		}
	}
	switch {
	case gone(err), err == nil && (secret == nil || usedUp(secret.Data["num_uses"])):
		return account{}, fault.New(fault.NotFound, "Vault has no such account, or not any more").WithFix("Request the credential anew.")
	case err != nil:
		return account{}, v.explain(c, err)
	}
	meta, _ := secret.Data["meta"].(map[string]any)
	text := func(key string) string {
		s, _ := meta[key].(string)
		return s
	}
	h := handle{accessor: accessor, parent: text(metaParent), drawn: text(metaDrawn)}
	out := account{Held: secrets.Held{Handle: h.String(), CreatedAt: time.Unix(int64(secondsOf(secret.Data["creation_time"])/time.Second), 0),
		ExpiresAt: at.Add(secondsOf(secret.Data["ttl"]))}}
	out.renewable, _ = secret.Data["renewable"].(bool)
	if text(metaInstallation) == v.installation {
		out.Lease = text(metaLease)
	}
	if until, err := time.Parse(time.RFC3339, text(metaUntil)); err == nil {
		out.until = until
	}
	return out, nil
}

// usedUp tells from the uses that a token has left that Vault is revoking it; 0
// is no bound.
func usedUp(uses any) bool {
	n, _ := uses.(json.Number)
	left, err := n.Int64()
	return err == nil && left < 0
}

// Unwrap opens a wrapping. Faults: failed_precondition where it has been opened
// or has ended.
func (v *Vault) Unwrap(ctx context.Context, w secrets.Wrapped) (map[string]secrets.Value, error) {
	c := call{method: http.MethodPut, path: "sys/wrapping/unwrap"}
	w.Token.Reveal(func(token []byte) { c.token = string(token) })
	secret, err := v.do(ctx, c)
	if status := statusOf(err); c.token == "" || err == nil && secret == nil || status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusNotFound {
		return nil, fault.New(fault.FailedPrecondition, "the credential was taken out of its wrapping already, or the wrapping has ended").WithFix("Request another.")
	}
	if err != nil {
		return nil, v.explain(c, err)
	}
	data := secret.Data
	if inner, ok := data["data"].(map[string]any); ok && len(data) == 2 && data["metadata"] != nil { // KV of version 2
		data = inner
	}
	out := make(map[string]secrets.Value, len(data))
	for field, x := range data {
		if text := textOf(x); text != "" {
			out[field] = value.New([]byte(text))
		}
	}
	return out, nil
}

// textOf is a field as text: what is no text is JSON.
func textOf(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return strconv.FormatBool(x)
	}
	text, _ := json.Marshal(x) // it came out of JSON
	return string(text)
}
