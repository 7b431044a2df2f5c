package rest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestQueriesForLocationsAreBounded holds that what is compared with every
// location is bounded before it is: a body may hold a million values.
func TestQueriesForLocationsAreBounded(t *testing.T) {
	few := strings.Repeat("1,", maxPredicateValues/2) + "1"
	for text, code := range map[string]fault.Code{
		`{"id":{"$in":[` + few + `]}}`:                                                   "",
		`{"id":{"$in":[` + few + "," + few + `]}}`:                                       fault.Invalid,
		`{"$any":[{"id":{"$in":[` + few + `]}},{"$not":{"id":{"$in":[` + few + `]}}}]}`:  fault.Invalid,
		`{"$all":[` + strings.Repeat(`{"id":"1"},`, maxPredicateValues) + `{"id":"1"}]}`: fault.Invalid,
		strings.Repeat(`{"$not":`, 5_000) + `{}` + strings.Repeat(`}`, 5_000):            fault.Invalid,
		`null`: "",
	} {
		var query any
		if err := json.Unmarshal([]byte(text), &query); err != nil {
			t.Fatal(err)
		}
		if err := weighed(query); fault.CodeOf(err) != code {
			t.Errorf("%.80s…: %v", text, err)
		}
	}
}
