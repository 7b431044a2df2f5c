// Package scalar holds the scalars of the schema.
package scalar

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Time is the scalar Time.
type Time struct{ At time.Time }

// ImplementsGraphQLType names the scalar.
func (Time) ImplementsGraphQLType(name string) bool { return name == "Time" }

// UnmarshalGraphQL reads an argument.
func (t *Time) UnmarshalGraphQL(v any) (err error) {
	t.At, err = time.Parse(time.RFC3339, fmt.Sprint(v))
	return err
}

// MarshalJSON writes RFC 3339 in UTC.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.At.UTC()) }

// JSON is the scalar JSON.
type JSON struct{ Raw json.RawMessage }

// ImplementsGraphQLType names the scalar.
func (JSON) ImplementsGraphQLType(name string) bool { return name == "JSON" }

// UnmarshalGraphQL reads an argument.
func (j *JSON) UnmarshalGraphQL(v any) (err error) {
	j.Raw, err = json.Marshal(v)
	return err
}

// MarshalJSON writes the value.
func (j JSON) MarshalJSON() ([]byte, error) { return j.Raw, nil }

// Of is a descriptor's value, nil where there is none.
func Of(v entity.Value) *JSON {
	if o, ok := v.(*entity.Object); v == nil || ok && o == nil {
		return nil
	}
	return &JSON{entity.AppendJSON(nil, v)}
}
