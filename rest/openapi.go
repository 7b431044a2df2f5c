package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const aboutAPI = "The catalog of services and what is known about them. The same operations are served as MCP tools at /mcp and as GraphQL at /graphql. " +
	"A bearer token is needed; what its bearer may not see is not found. Paths that take an entity reference take it as it is or percent-encoded."

// openAPI describes routes as an OpenAPI 3.1 document.
func openAPI(routes []route) map[string]any {
	s := &schemas{named: map[string]any{}, types: map[string]reflect.Type{}}
	paths := map[string]map[string]any{}
	for _, rt := range append(routes, itself()) {
		path := strings.ReplaceAll(rt.pattern, "...}", "}")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(rt.method)] = s.operation(rt)
	}
	s.named["Error"] = errorSchema()
	return map[string]any{
		"openapi":  "3.1.0",
		"info":     map[string]any{"title": "Fairlead", "version": "1", "description": aboutAPI},
		"servers":  []any{map[string]any{"url": "/", "description": "the server that gives this document"}},
		"security": []any{map[string]any{"bearer": []any{}}},
		"tags":     tags(),
		"paths":    paths,
		"components": map[string]any{
			"schemas":         s.named,
			"responses":       faultResponses(),
			"securitySchemes": map[string]any{"bearer": map[string]any{"type": "http", "scheme": "bearer", "description": "A token of the server's configuration, or of an issuer whose tokens it takes."}},
		},
	}
}

// itself is the route of the document.
func itself() route {
	return route{method: http.MethodGet, pattern: "/api/v1/openapi.json", operation: "get_openapi", summary: "This document", out: reflect.TypeFor[map[string]any]()}
}

// tags group operations by what they are about.
func tags() []any {
	return []any{
		map[string]any{"name": "catalog", "description": "Entities and what connects them."},
		map[string]any{"name": "sources", "description": "Where the catalog comes from, and what is wrong with it."},
		map[string]any{"name": "previews", "description": "Running copies of services at a revision, which end by themselves."},
		map[string]any{"name": "proposals", "description": "Changes proposed by pull request, and what has become of them."},
		map[string]any{"name": "deployments", "description": "How services are doing where they are deployed."},
		map[string]any{"name": "checks", "description": "How the checks of commits went."},
		map[string]any{"name": "access", "description": "Who is calling, what waits for approval, and what has been done."},
		map[string]any{"name": "about", "description": "This API."},
	}
}

func tagOf(rt route) string {
	switch {
	case slices.Contains([]access.Action{access.ReadSelf, access.LinkForge, access.ReadAudit, access.ReadApprovals, access.DecideApprovals}, rt.action):
		return "access"
	case rt.action == "":
		return "about"
	case rt.action == access.ReadProposals || rt.action == access.ProposeChange || rt.action == access.RunFleet:
		return "proposals"
	case rt.action == access.ReadHealth:
		return "deployments"
	case rt.action == access.ReadChecks:
		return "checks"
	case strings.Contains(rt.operation, "_preview_"):
		return "previews"
	case !rt.action.Effect().ReadOnly || strings.HasPrefix(rt.operation, "list_ingestion") || rt.operation == "list_sources" || rt.operation == "list_locations":
		return "sources"
	default:
		return "catalog"
	}
}

func (s *schemas) operation(rt route) map[string]any {
	op := map[string]any{
		"operationId": rt.operation + operationSuffix(rt), "summary": rt.summary, "tags": []string{tagOf(rt)},
		"responses": s.responses(rt),
	}
	if rt.action != "" {
		op["x-fairlead-action"] = rt.action
	}
	var params []any
	for _, p := range rt.params {
		if p.in != inBody {
			params = append(params, s.parameter(p))
		}
	}
	if params != nil {
		op["parameters"] = params
	}
	if body := s.body(rt); body != nil {
		op["requestBody"] = body
	}
	return op
}

// operationSuffix keeps operation ids apart where an operation has two paths.
func operationSuffix(rt route) string {
	if rt.method == http.MethodPost && rt.action.Effect().ReadOnly {
		return "_by_post"
	}
	return ""
}

// body describes the request's body, nil where there is none.
func (s *schemas) body(rt route) map[string]any {
	properties, required := schema{}, []string{}
	for _, p := range rt.params {
		if p.in != inBody {
			continue
		}
		properties[p.name] = described(s.of(p.typ), p.description)
		if p.required {
			required = append(required, p.name)
		}
	}
	if len(properties) == 0 {
		return nil
	}
	media := map[string]any{"schema": objectOf(properties, required, true)}
	if e, ok := bodyExamples()[rt.operation]; ok {
		media["example"] = e
	}
	return map[string]any{"required": len(required) > 0, "content": map[string]any{"application/json": media}}
}

// objectOf is the schema of an object; a closed one has no other properties.
func objectOf(properties schema, required []string, closed bool) schema {
	out := schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if closed {
		out["additionalProperties"] = false
	}
	return out
}

func (s *schemas) parameter(p param) map[string]any {
	out := map[string]any{"name": p.name, "in": string(p.in)}
	if p.description != "" {
		out["description"] = p.description
	}
	if p.required {
		out["required"] = true
	}
	sc := s.of(p.typ)
	if structured(p.typ) {
		out["content"] = map[string]any{"application/json": map[string]any{"schema": sc}}
		return out
	}
	out["schema"] = sc
	if e, ok := parameterExamples()[p.name]; ok && (sc["type"] == "array") == (reflect.TypeOf(e).Kind() == reflect.Slice) {
		out["example"] = e
	}
	return out
}

// responses are the answers that a route can give.
func (s *schemas) responses(rt route) map[string]any {
	ok := content("The answer.", s.of(rt.out))
	if e, there := answerExamples()[rt.operation]; there {
		ok["content"].(map[string]any)["application/json"].(map[string]any)["example"] = e //nolint:forcetypeassert // content makes it
	}
	out := map[string]any{strconv.Itoa(http.StatusOK): ok}
	may := []string{"401", "405", "503"}
	if rt.action != "" {
		may = append(may, "400")
	}
	if rt.method == http.MethodPost {
		may = append(may, "413", "415")
	}
	if slices.ContainsFunc(rt.params, func(p param) bool {
		return p.in == inPath || slices.Contains([]string{"service", "repository", "entityRef", "handle", "alert"}, p.name)
	}) {
		may = append(may, "404")
	}
	switch {
	case rt.action != "" && !rt.action.Effect().ReadOnly:
		may = append(may, "403", "409", "422", "429")
	case rt.action == access.ReadAudit:
		may = append(may, "403")
	case rt.action == access.ReadStrays:
		may = append(may, "403", "422")
	case rt.action == access.ReadPreviews || rt.action == access.ReadCredentials || rt.action == access.ReadProposals || rt.action == access.ReadHealth || rt.action == access.ReadChecks:
		may = append(may, "422")
	}
	for _, status := range may {
		out[status] = map[string]any{"$ref": "#/components/responses/" + responseName(status)}
	}
	out["default"] = map[string]any{"$ref": "#/components/responses/Fault"}
	return out
}

// refusals are the answers that tell a fault, by status.
func refusals() map[string]struct{ name, description string } {
	return map[string]struct{ name, description string }{
		"400": {"Invalid", "The input is wrong; the message names what, and the fix what to send."},
		"401": {"Unauthenticated", "There is no token, or it does not hold."},
		"403": {"Forbidden", "The caller may not do this, or a person must agree first."},
		"404": {"NotFound", "There is no such thing, or not for this caller's eyes."},
		"405": {"MethodNotAllowed", "The path does not take the method."},
		"409": {"Conflict", "Something else holds the name, or moved meanwhile."},
		"413": {"TooLarge", "The body is larger than 4 MiB."},
		"415": {"UnsupportedType", "The body is not application/json."},
		"422": {"FailedPrecondition", "The system is not in a state for this."},
		"429": {"QuotaExceeded", "The caller's quota is used up for now."},
		"503": {"Unavailable", "A part is down, or the caller's token cannot be checked now."},
	}
}

func responseName(status string) string { return refusals()[status].name }

// headersOf are the headers that an answer has beside the usual ones.
func headersOf(status string) map[string]any {
	one := func(name, description, typ string) map[string]any {
		return map[string]any{name: map[string]any{"description": description, "schema": schema{"type": typ}}}
	}
	switch status {
	case "401":
		return one("WWW-Authenticate", "where a token can be got (RFC 9728)", "string")
	case "405":
		return one("Allow", "the methods that the path takes", "string")
	case "429", "503":
		return one("Retry-After", "seconds after which trying again makes sense", "integer")
	default:
		return nil
	}
}

func faultResponses() map[string]any {
	out := map[string]any{"Fault": faultResponse("What went wrong and how to put it right.", fault.Internal)}
	codes := map[string]fault.Code{"400": fault.Invalid, "401": fault.Unauthenticated, "403": fault.Forbidden, "404": fault.NotFound, "405": fault.Invalid, "409": fault.Conflict,
		"413": fault.Invalid, "415": fault.Invalid, "422": fault.FailedPrecondition, "429": fault.QuotaExceeded, "503": fault.Unavailable}
	for status, r := range refusals() {
		f := faultResponse(r.description, codes[status])
		if h := headersOf(status); h != nil {
			f["headers"] = h
		}
		out[r.name] = f
	}
	return out
}

func faultResponse(description string, code fault.Code) map[string]any {
	out := content(description, objectOf(schema{"error": ref("Error")}, []string{"error"}, false))
	out["content"].(map[string]any)["application/json"].(map[string]any)["example"] = map[string]any{"error": exampleFault(code)} //nolint:forcetypeassert // content makes it
	return out
}

func content(description string, s schema) map[string]any {
	return map[string]any{"description": description, "content": map[string]any{"application/json": map[string]any{"schema": s}}}
}
