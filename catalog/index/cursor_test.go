package index

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestEncoder holds cursors written one after another against those written
// each by itself.
func TestEncoder(t *testing.T) {
	total := 3
	marks := []Mark{{"a", "1"}, {`q"orderFieldValues":[]\` + "\n<é>\u2028", "2"}, {"", "3"}}
	for name, c := range map[string]Cursor{
		"plain":   {OrderFields: []Sort{}},
		"ordered": {OrderFields: []Sort{{"metadata.name", "asc"}}, Query: json.RawMessage(`{"orderFieldValues":[]}`), FullText: &TermFilter{Term: `"orderFieldValues":[]`}},
		"later": {OrderFields: []Sort{{"metadata.name", "desc"}}, FirstSortFieldValues: []string{`"orderFieldValues":[]`, "1"},
			IsPrevious: true, TotalItems: &total},
	} {
		t.Run(name, func(t *testing.T) {
			encode := c.Encoder()
			for _, m := range marks {
				c.OrderFieldValues = m.Values(len(c.OrderFields) > 0)
				want, err := DecodeCursor(c.Encode())
				if err != nil {
					t.Fatal(err)
				}
				if got, err := DecodeCursor(encode(m)); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v %v, want %+v", got, err, want)
				}
			}
		})
	}
}
