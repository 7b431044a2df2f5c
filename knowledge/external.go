package knowledge

import (
	"cmp"
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// SearchExternalInput is a question to a provider outside.
type SearchExternalInput struct {
	Query    string `json:"query" jsonschema:"plain words on one line, up to 200 bytes; they leave for the provider"`
	Provider string `json:"provider,omitempty" jsonschema:"name of the provider; the first by default"`
}

// ExternalHits are what a provider outside found. Nobody here answers for it:
// it is data, as documents are.
type ExternalHits struct {
	// Provider is the name of the one that was asked.
	Provider string `json:"provider"`
	// FetchedAt is when it was asked, and Cached whether that was for somebody
	// before.
	FetchedAt time.Time `json:"fetchedAt"`
	Cached    bool      `json:"cached"`
	// Hits are in the provider's order, at most ten.
	Hits []ExternalHit `json:"hits"`
	// Providers are those that may be asked, in configured order.
	Providers []ExternalProvider `json:"providers"`
}

// ExternalHit is a hit as strangers wrote it, without control characters and
// with secrets masked.
type ExternalHit struct {
	Title string `json:"title,omitempty"`
	// URL is an http or https URL, "" where there is none.
	URL  string `json:"url,omitempty"`
	Text string `json:"text,omitempty"`
}

// ExternalProvider is one that may be asked.
type ExternalProvider struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
}

// External asks providers outside.
type External interface {
	// Ask asks the provider of a name. What it gives is the caller's own.
	// Faults: not_found (the provider), invalid (the query holds a secret, and
	// was not sent), unavailable.
	Ask(ctx context.Context, provider, query string) (*ExternalHits, error)
	// Providers are those there are, at least one.
	Providers() []ExternalProvider
}

// maxExternalQuery is the most of a query, in bytes.
const maxExternalQuery = 200

// AsksOutside tells whether there are providers outside.
func (s *Service) AsksOutside() bool { return s != nil && s.external != nil }

// SearchExternal asks a provider outside, or says what it has said before. It
// is an act, since the query leaves: recorded, and bounded for each caller,
// also where the answer is known already. Faults: failed_precondition (none is
// configured), invalid (the query, also one with a secret in it), not_found
// (the provider), unavailable (it did not answer, or not as configured), and
// those of access.Do.
func (s *Service) SearchExternal(ctx context.Context, who access.Caller, in SearchExternalInput) (*ExternalHits, error) {
	if !s.AsksOutside() {
		return nil, fault.New(fault.FailedPrecondition, "this server asks nobody outside").WithFix("Ask the operators to configure knowledge.external, or use search_knowledge.")
	}
	if err := cmp.Or(checkField("query", in.Query, 1, maxExternalQuery, false), checkField("provider", in.Provider, 0, maxShort, false)); err != nil {
		return nil, err
	}
	if in.Provider == "" {
		in.Provider = s.external.Providers()[0].Name
	}
	op := access.Op{Action: access.SearchExternal, Operation: "search_external", Target: in.Provider,
		Input: SearchExternalInput{Query: access.Redact(in.Query), Provider: in.Provider}}
	return access.Do(ctx, s.guard, who, op, func(ctx context.Context) (*ExternalHits, error) {
		out, err := s.external.Ask(ctx, in.Provider, in.Query)
		if err == nil {
			out.Providers = s.external.Providers()
		}
		return out, err
	})
}
