package loan

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/scrub"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Credential is what was in a wrapping.
type Credential struct {
	lease, name, engine string
	fields              map[string]value.Value
	// within are the texts within fields that are no texts themselves.
	within []value.Value
}

// maxWithin is how deep in a field texts are looked for.
const maxWithin = 20

// credential reads an issuer's answer.
func credential(l *Loan, body []byte) (*Credential, error) {
	var answer struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	c := &Credential{lease: l.Lease, name: l.Name, engine: l.Engine, fields: map[string]value.Value{}}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Data) == 0 {
		return nil, c.strange()
	}
	data := answer.Data
	if isVersioned(l.Engine, data) {
		inner := data["data"]
		data = nil
		if err := json.Unmarshal(inner, &data); err != nil || len(data) == 0 {
			return nil, c.strange()
		}
	}
	for name, raw := range data {
		v, isText := text(raw)
		if v.IsZero() {
			continue // null and "" are nothing
		}
		c.fields[name] = v
		if !isText {
			c.within = append(c.within, within(raw, maxWithin)...)
		}
	}
	if len(c.fields) == 0 {
		return nil, c.strange()
	}
	return c, nil
}

func (c *Credential) strange() error {
	return fault.New(fault.FailedPrecondition, "there is no credential in the wrapping of lease %s", c.lease).WithFix("Check the role or the path that the service declares, at Vault.")
}

// isVersioned tells whether data is a secret of the second version of kv.
func isVersioned(engine string, data map[string]json.RawMessage) bool {
	return engine == "kv" && len(data) == 2 && len(data["metadata"]) > 0 && bytes.HasPrefix(data["data"], []byte("{"))
}

// text is a field as text: texts as they are, all else as JSON.
func text(raw json.RawMessage) (v value.Value, isText bool) {
	var s secret
	if bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &s) == nil {
		return s.Value, true
	}
	if bytes.Equal(raw, []byte("null")) {
		return value.Value{}, false
	}
	return value.New(bytes.Clone(raw)), false
}

// within are the texts in a field that is a list or a mapping.
func within(raw json.RawMessage, depth int) []value.Value {
	var list []json.RawMessage
	var mapping map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &mapping) != nil {
		return nil
	}
	var out []value.Value
	for _, it := range slices.AppendSeq(list, maps.Values(mapping)) {
		if v, isText := text(it); isText {
			out = append(out, v)
		} else {
			out = append(out, within(it, depth-1)...)
		}
	}
	return out
}

// public tells whether a field is a name or a certificate, which the issuer
// does not keep secret either, and without which errors cannot be read.
func (c *Credential) public(field string) bool {
	switch c.engine {
	case "database":
		return field == "username"
	case "kubernetes":
		return field == "service_account_name" || field == "service_account_namespace"
	case "pki":
		return slices.Contains([]string{"certificate", "issuing_ca", "ca_chain", "serial_number", "private_key_type", "expiration"}, field)
	}
	return false
}

// Scrubber looks for the secret fields in what a program writes. Short are
// those that are too short for that. Fault: failed_precondition (they are too
// long together).
func (c *Credential) Scrubber() (s *scrub.Set, short []string, err error) {
	values, size := slices.Clone(c.within), 0
	if c.engine == "pki" {
		values = nil // lists of certificates
	}
	for name, v := range c.fields {
		if !c.public(name) {
			values = append(values, v)
			v.Reveal(func(b []byte) {
				size += len(b)
				if len(b) < scrub.MinLength {
					short = append(short, name)
				}
			})
		}
	}
	if size > scrub.MaxBytes {
		return nil, nil, fault.New(fault.FailedPrecondition, "the credential of lease %s has more than %d KiB, which cannot be kept out of output", c.lease, scrub.MaxBytes>>10).
			WithFix("Lend smaller ones.")
	}
	slices.Sort(short)
	return scrub.New(values...), short, nil
}

// Wipe forgets it.
func (c *Credential) Wipe() {
	for _, v := range c.fields {
		v.Wipe()
	}
	for _, v := range c.within {
		v.Wipe()
	}
}
