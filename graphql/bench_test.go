package graphql_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gql "github.com/graph-gophers/graphql-go"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/graphql"
)

// pageQuery is a page of twenty with five nested objects each.
const pageQuery = `query Page($n: Int!) {entities(first: $n, filter: "kind=component", orderBy: {field: "metadata.name"}) {totalCount edges {cursor node {
	ref kind title metadata {name namespace description tags} owner {ref title} system {ref title} source {repo path line} dependsOn(first: 2) {ref type}}} pageInfo {hasNextPage endCursor}}}`

// bareSchema is as much of the schema as pageQuery needs.
const bareSchema = `
schema {query: Query}
scalar Filter
input EntityOrder {field: String! order: Order = asc}
enum Order {asc desc}
type Query {entities(first: Int filter: Filter orderBy: [EntityOrder!]): EntityConnection}
type EntityConnection {edges: [EntityEdge!]! pageInfo: PageInfo! totalCount: Int!}
type EntityEdge {cursor: String! node: Entity!}
type PageInfo {hasNextPage: Boolean! endCursor: String}
type Entity {ref: String! kind: String! title: String type: String metadata: EntityMetadata! owner: Entity system: Entity source: Provenance! dependsOn(first: Int): [Entity!]!}
type EntityMetadata {name: String! namespace: String! description: String tags: [String!]!}
type Provenance {repo: String path: String! line: Int}
`

// The bare types hold the answer ready, so that what is measured of them is
// graphql-go alone.
type (
	bareQuery      struct{ page *bareConnection }
	bareConnection struct {
		TotalCount int32
		Edges      []bareEdge
		PageInfo   barePageInfo
	}
	bareEdge struct {
		Cursor string
		Node   *bareEntity
	}
	barePageInfo struct {
		HasNextPage bool
		EndCursor   *string
	}
	bareEntity struct {
		Ref, Kind     string
		Title, Type   *string
		Metadata      bareMetadata
		Owner, System *bareEntity
		Source        bareProvenance
		Depends       []*bareEntity `json:"dependsOn"`
	}
	bareMetadata struct {
		Name, Namespace string
		Description     *string
		Tags            []string
	}
	bareProvenance struct {
		Repo *string
		Path string
		Line *int32
	}
	bareFilter struct{ any }
	bareArgs   struct {
		First   *int32
		Filter  *bareFilter
		OrderBy *[]struct{ Field, Order string }
	}
)

func (bareFilter) ImplementsGraphQLType(name string) bool { return name == "Filter" }
func (f *bareFilter) UnmarshalGraphQL(v any) error        { f.any = v; return nil }

func (q *bareQuery) Entities(bareArgs) *bareConnection { return q.page }

func (e *bareEntity) DependsOn(struct{ First *int32 }) []*bareEntity { return e.Depends }

// bareHandler serves graphql-go with nothing around it.
func bareHandler(tb testing.TB, data json.RawMessage) http.Handler {
	var page struct{ Entities *bareConnection }
	if err := json.Unmarshal(data, &page); err != nil {
		tb.Fatal(err)
	}
	schema := gql.MustParseSchema(bareSchema, &bareQuery{page.Entities}, gql.UseFieldResolvers())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			Query     string
			Variables map[string]any
		}
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(schema.Exec(r.Context(), p.Query, "", p.Variables))
	})
}

func doorHandler(tb testing.TB, c *catalog.Service) http.Handler {
	who := callers()["reader"]
	h, err := graphql.New(graphql.Config{Catalog: c, Access: accesstest.Service(tb, nil, accesstest.NewLog()), Recorder: quiet{},
		Authenticate: func(*http.Request) (access.Caller, error) { return who, nil }})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func pageRequest(tb testing.TB) func(http.Handler) *httptest.ResponseRecorder {
	body, err := json.Marshal(map[string]any{"query": pageQuery, "variables": map[string]any{"n": 20}})
	if err != nil {
		tb.Fatal(err)
	}
	return func(h http.Handler) *httptest.ResponseRecorder { return post(h, string(body)) }
}

func post(h http.Handler, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer reader"}, "Content-Type": {"application/json"}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// BenchmarkPage compares a page of twenty with five nested objects through
// the door and through graphql-go alone, to which the answer is given. The
// goal is 1.25 times its time.
func BenchmarkPage(b *testing.B) {
	door := doorHandler(b, catalogtest.New(b, docs(many(100))))
	ask := pageRequest(b)
	answer := ask(door)
	var first struct {
		Data   json.RawMessage
		Errors []any
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &first); err != nil || len(first.Errors) > 0 {
		b.Fatal(err, answer.Body)
	}
	bare := bareHandler(b, first.Data)
	if got := ask(bare); strings.TrimSpace(got.Body.String()) != strings.TrimSpace(answer.Body.String()) {
		b.Fatalf("the answers differ:\n%s\n%s", answer.Body, got.Body)
	}
	for name, h := range map[string]http.Handler{"door": door, "bare": bare} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ask(h)
			}
		})
	}
	b.Run("ratio", func(b *testing.B) {
		var spent [2]time.Duration
		for b.Loop() {
			for i, h := range []http.Handler{door, bare} { // by turns, so that both meet the same load
				before := cpu(b)
				for range 10 {
					ask(h)
				}
				spent[i] += cpu(b) - before
			}
		}
		b.ReportMetric(float64(spent[0])/float64(spent[1]), "door/bare")
		b.ReportMetric(1.25, "goal")
	})
}

// BenchmarkAttacks prints how long it takes to refuse each attack; the goal is
// 50 ms.
func BenchmarkAttacks(b *testing.B) {
	door := doorHandler(b, catalogtest.New(b, docs(many(1000))))
	all := bodies()
	for name, a := range attacks() {
		body, err := json.Marshal(map[string]string{"query": a.query})
		if err != nil {
			b.Fatal(err)
		}
		all[name] = attack{query: string(body)}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			worst := time.Duration(0)
			for b.Loop() {
				start := time.Now()
				post(door, all[name].query)
				worst = max(worst, time.Since(start))
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
			b.ReportMetric(50, "ms-goal")
		})
	}
}

// cpu is the CPU time that the process has used.
func cpu(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quiet records nothing.
type quiet struct{}

func (quiet) Begin(ctx context.Context, _ access.Call) (context.Context, func(error)) {
	return ctx, func(error) {}
}
