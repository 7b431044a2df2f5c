package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// fullPage is how many repositories GitHub tells of in one answer, and
// leastPage what is asked for when it cannot answer that in time.
const (
	fullPage  = 100
	leastPage = 25
)

// query lists a page. A repository has at most twenty topics at GitHub, so
// that asking for twenty asks for all.
const query = `query($login:String!,$first:Int!,$after:String,$order:RepositoryOrder!,$archived:Boolean,$fork:Boolean,$visibility:RepositoryVisibility){
 owner:OWNER(login:$login){
  repositories(first:$first,after:$after,orderBy:$order,isArchived:$archived,isFork:$fork,visibility:$visibility,ownerAffiliations:[OWNER]){
   totalCount
   pageInfo{hasNextPage endCursor}
   nodes{nameWithOwner url isArchived isFork isEmpty pushedAt updatedAt
    defaultBranchRef{name target{oid}}
    repositoryTopics(first:20){nodes{topic{name}}}}
  }
 }
}`

type order struct {
	Field     string `json:"field"`
	Direction string `json:"direction"`
}

// page is one answer.
type page struct {
	Total int `json:"totalCount"`
	Info  struct {
		More bool   `json:"hasNextPage"`
		End  string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []*node `json:"nodes"`
}

type node struct {
	Name     string    `json:"nameWithOwner"`
	URL      string    `json:"url"`
	Archived bool      `json:"isArchived"`
	Fork     bool      `json:"isFork"`
	Empty    bool      `json:"isEmpty"`
	Pushed   time.Time `json:"pushedAt"`
	Updated  time.Time `json:"updatedAt"`
	Default  *struct {
		Name   string `json:"name"`
		Target *struct {
			ID string `json:"oid"`
		} `json:"target"`
	} `json:"defaultBranchRef"`
	Topics struct {
		Nodes []struct {
			Topic struct {
				Name string `json:"name"`
			} `json:"topic"`
		} `json:"nodes"`
	} `json:"repositoryTopics"`
}

// repository is the node as the rest of the program knows it.
func (n *node) repository() forge.Repository {
	r := forge.Repository{FullName: n.Name, WebURL: n.URL, Archived: n.Archived, Fork: n.Fork, Empty: n.Empty, Updated: n.Pushed}
	if n.Updated.After(r.Updated) {
		r.Updated = n.Updated
	}
	if n.Default != nil {
		r.DefaultBranch = n.Default.Name
		if n.Default.Target != nil {
			r.Head = n.Default.Target.ID
		}
	}
	for _, t := range n.Topics.Nodes {
		r.Topics = append(r.Topics, t.Topic.Name)
	}
	slices.Sort(r.Topics)
	return r
}

type variables struct {
	Login      string  `json:"login"`
	First      int     `json:"first"`
	After      *string `json:"after"`
	Order      order   `json:"order"`
	Archived   *bool   `json:"archived"`
	Fork       *bool   `json:"fork"`
	Visibility *string `json:"visibility"`
}

type graphqlAnswer struct {
	Data struct {
		Owner *struct {
			Repositories *page `json:"repositories"`
		} `json:"owner"`
	} `json:"data"`
	Errors []graphqlError `json:"errors"`
}

type graphqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Ext     struct {
		SAML bool `json:"saml_failure"`
	} `json:"extensions"`
}

// graphqlErrors is what GitHub says in an answer of status 200; its words are
// for logs alone.
type graphqlErrors []graphqlError

func (e graphqlErrors) Error() string {
	var words []string
	for _, one := range e[:min(len(e), 5)] {
		words = append(words, cmp.Or(one.Type, "error")+": "+one.Message)
	}
	text := strings.Join(words, "; ")
	return text[:min(len(text), 500)]
}

func (e graphqlErrors) has(types ...string) bool {
	return slices.ContainsFunc(e, func(one graphqlError) bool { return slices.Contains(types, one.Type) })
}

// owner names who owns the repositories, for people.
func (c *Client) owner() string {
	if c.cfg.Org != "" {
		return "the organization " + c.cfg.Org
	}
	return "the user " + c.cfg.User
}

func (c *Client) step() string { return "listing the repositories of " + c.owner() }

// page asks for one page, a smaller one where GitHub cannot answer in time.
func (c *Client) page(ctx context.Context, by order, after string) (*page, error) {
	v := variables{Login: cmp.Or(c.cfg.Org, c.cfg.User), First: fullPage, Order: by}
	if after != "" {
		v.After = &after
	}
	no := false
	if !c.cfg.Filter.Archived {
		v.Archived = &no
	}
	if !c.cfg.Filter.Forks {
		v.Fork = &no
	}
	if c.cfg.Filter.Visibility != "" {
		upper := strings.ToUpper(c.cfg.Filter.Visibility)
		v.Visibility = &upper
	}
	for {
		p, err := c.ask(ctx, v)
		var status *forge.StatusError
		if errors.As(err, &status) && status.Status >= http.StatusInternalServerError && v.First > leastPage {
			v.First /= 2
			continue
		}
		return p, err
	}
}

// ask asks for a page once.
func (c *Client) ask(ctx context.Context, v variables) (*page, error) {
	kind := "organization"
	if c.cfg.User != "" {
		kind = "user"
	}
	body := map[string]any{"query": strings.Replace(query, "OWNER", kind, 1), "variables": v}
	req, err := c.api.NewRequest(ctx, http.MethodPost, c.at.graphql.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header["X-Idempotency-Key"] = nil // it only reads, so it may be sent again
	var out graphqlAnswer
	if _, err := c.api.Do(req, &out); err != nil {
		return nil, err
	}
	switch {
	case len(out.Errors) > 0:
		return nil, graphqlErrors(out.Errors)
	case out.Data.Owner == nil || out.Data.Owner.Repositories == nil || slices.Contains(out.Data.Owner.Repositories.Nodes, nil):
		return nil, errors.New("the answer holds no list of repositories")
	}
	return out.Data.Owner.Repositories, nil
}

// explain says what went wrong with a list.
func (c *Client) explain(err error) error {
	var errs graphqlErrors
	if !errors.As(err, &errs) {
		return c.wire.Explain(c.step(), err)
	}
	saml := slices.ContainsFunc(errs, func(e graphqlError) bool { return e.Ext.SAML })
	switch {
	case errs.has("NOT_FOUND"):
		return fault.New(fault.NotFound, "%s: there is no such one at %s, or the token may not see it", c.step(), c.wire.Host).
			WithFix("Correct org or user, or use a token that may see it.").Because(err)
	case saml:
		return fault.New(fault.Forbidden, "%s: it wants the token authorized for its single sign-on; the token comes from %s", c.step(), c.wire.Credentials).
			WithFix("Authorize the token for the organization in GitHub's settings of tokens.").Because(err)
	case errs.has("FORBIDDEN", "INSUFFICIENT_SCOPES"):
		return fault.New(fault.Forbidden, "%s: %s does not allow that with %s", c.step(), c.wire.Host, c.wire.Credentials).
			WithFix("Use a token that may read the repositories' metadata: the permission Metadata, or the scopes repo and read:org.").Because(err)
	default:
		return fault.New(fault.Unavailable, "%s: %s answers with an error of its own", c.step(), c.wire.Host).
			WithFix("It is tried again; look at the log and at GitHub's status if it stays.").Because(err)
	}
}
