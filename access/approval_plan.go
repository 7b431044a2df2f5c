package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// maxPlan bounds in bytes what who decides is shown of a plan. A longer one is
// refused, as nobody should approve what they are not shown.
const maxPlan = 64 << 10

// HashPlan is what an approval is bound to: sha256: and the hash of the plan's
// canonical JSON. An error is a plan that is no JSON.
func HashPlan(plan any) (string, error) {
	tree, err := jsonTree(plan)
	if err != nil {
		return "", err
	}
	return hashOf(tree)
}

func hashOf(v any) (string, error) {
	text, err := json.Marshal(v) // sorts the keys of objects
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// jsonTree gives a value as JSON has it, numbers as they are written.
func jsonTree(v any) (tree any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&tree)
	return tree, err
}

// masked gives a JSON value without its secrets, and otherwise whole.
func masked(v any) any {
	switch v := v.(type) {
	case string:
		return Redact(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = masked(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if _, number := item.(json.Number); !number && secretKey.MatchString(k) && holdsText(item) {
				item = mask
			}
			out[Redact(k)] = masked(item)
		}
		return out
	default:
		return v
	}
}
