package command

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// listing is a list that the server gives in pages.
type listing struct {
	path  string
	query url.Values
	// items names the member of an answer that holds the items.
	items string
	// most is the largest page that the server gives.
	most int
	// want is how many items to read; 0 is all.
	want int
}

// list reads pages until there are as many items as wanted, and gives them
// as one answer of the form of a page.
func (c *console) list(l listing) (json.RawMessage, error) {
	return c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		var whole *entity.Object
		var items entity.List
		query := maps.Clone(l.query)
		for {
			query.Set("limit", strconv.Itoa(l.next(len(items))))
			raw, err := cl.Get(ctx, l.path, query)
			if err != nil {
				return nil, err
			}
			page, err := pageOf(raw)
			if err != nil {
				return nil, err
			}
			before := query.Get("cursor")
			items = append(items, page.List(l.items)...)
			whole = page
			cursor := cursorOf(page)
			if cursor == "" || cursor == before || l.want > 0 && len(items) >= l.want {
				break
			}
			query.Set("cursor", cursor)
		}
		if items == nil {
			items = entity.List{}
		}
		whole.Set(l.items, items)
		return whole.MarshalJSON()
	})
}

// next is how many items to ask for.
func (l listing) next(have int) int {
	if l.want > 0 {
		return min(l.most, l.want-have)
	}
	return l.most
}

func pageOf(raw json.RawMessage) (*entity.Object, error) {
	v, err := entity.ParseJSON(raw)
	page, ok := v.(*entity.Object)
	if err != nil || !ok {
		return nil, fault.New(fault.Unavailable, "the server's answer is not of the expected form").
			WithFix("Use versions of fairlead and fairleadd that belong together.").Because(err)
	}
	return page, nil
}

func cursorOf(page *entity.Object) string {
	if s := page.String("nextCursor"); s != "" {
		return s
	}
	return page.Object("pageInfo").String("nextCursor")
}

// values makes a query of keys and values in turn; empty values are left out.
func values(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Add(pairs[i], pairs[i+1])
		}
	}
	return q
}

// number is n as a query has it, "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// more tells that there is more than was shown.
func (c *console) more(shown, total int) {
	if c.Output == formatTable && total > shown {
		c.note("%d of %d shown: ask for more with --limit", shown, total)
	}
}

// kindOf is the kind of Backstage's that a word names, in the singular or the
// plural.
func kindOf(word string) (string, bool) {
	plain := []string{"component", "api", "resource", "system", "domain", "group", "user", "location", "template"}
	word = entity.Lower(word)
	if slices.Contains(plain, word) {
		return word, true
	}
	if n := len(word); n > 1 && word[n-1] == 's' && slices.Contains(plain, word[:n-1]) {
		return word[:n-1], true
	}
	return "", false
}
