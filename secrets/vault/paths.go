package vault

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// Everything of an offer that becomes part of a path is one of these names, or
// several between slashes: none begins with a dot, and there is nothing to
// escape in any.
var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,126}[A-Za-z0-9_-])?$`)
	hostName  = regexp.MustCompile(`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	dnsLabel  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

const (
	maxMount = 5  // names of a mount
	maxPath  = 12 // names of a path below one
)

// isPath tells whether a text is names between single slashes.
func isPath(text string, most int) bool {
	names := strings.Split(text, "/")
	return len(names) <= most && !slices.ContainsFunc(names, func(n string) bool { return !plainName.MatchString(n) })
}

// drawing is the request that issues a credential.
type drawing struct {
	// path is relative to /v1/.
	path string
	// query makes it a read with these, body a write.
	query url.Values
	body  map[string]any
	// lasts is how long the credential lives that is asked for; 0 where the
	// engine is not told.
	lasts time.Duration
	// role is the path of the engine's role, "" without one, and limits are the
	// fields there that bound the credential's life.
	role   string
	limits []string
}

// capability is what a policy grants for it.
func (d *drawing) capability() string {
	if d.body != nil {
		return "update"
	}
	return "read"
}

// templates are the requests by engine, of offers whose names are checked.
func templates() map[string]func(o secrets.Offer, ttl time.Duration) drawing {
	creds := func(o secrets.Offer) string { return o.Mount + "/creds/" + o.Role }
	role := func(o secrets.Offer) string { return o.Mount + "/roles/" + o.Role }
	return map[string]func(o secrets.Offer, ttl time.Duration) drawing{
		secrets.EngineDatabase: func(o secrets.Offer, _ time.Duration) drawing {
			return drawing{path: creds(o), role: role(o), limits: []string{"default_ttl", "max_ttl"}}
		},
		secrets.EngineGeneric: func(o secrets.Offer, _ time.Duration) drawing {
			return drawing{path: creds(o), role: role(o), limits: []string{"default_ttl", "ttl", "max_ttl"}}
		},
		secrets.EngineKV: func(o secrets.Offer, _ time.Duration) drawing {
			if o.Params["version"] == "1" {
				return drawing{path: o.Mount + "/" + o.Path}
			}
			return drawing{path: o.Mount + "/data/" + o.Path}
		},
		secrets.EnginePKI: func(o secrets.Offer, ttl time.Duration) drawing {
			body := map[string]any{"common_name": o.Params["commonName"], "ttl": seconds(ttl)}
			if names := o.Params["altNames"]; names != "" {
				body["alt_names"] = names
			}
			return drawing{path: o.Mount + "/issue/" + o.Role, body: body, lasts: ttl, role: role(o), limits: []string{"max_ttl"}}
		},
		secrets.EngineKubernetes: func(o secrets.Offer, ttl time.Duration) drawing {
			return drawing{path: creds(o), body: map[string]any{"kubernetes_namespace": o.Params["namespace"], "ttl": seconds(ttl)},
				lasts: ttl, role: role(o), limits: []string{"token_max_ttl"}}
		},
		secrets.EngineAWS: func(o secrets.Offer, ttl time.Duration) drawing {
			return drawing{path: creds(o), query: url.Values{"ttl": {seconds(ttl)}}, lasts: ttl, role: role(o), limits: []string{"max_sts_ttl"}}
		},
	}
}

// drawingOf is the request for an offer, refused where one of its names could
// be more than a name.
func drawingOf(o secrets.Offer, ttl time.Duration) (drawing, error) {
	template, known := templates()[o.Engine]
	if !known {
		return drawing{}, fault.New(fault.Invalid, "credential %q: there is no engine %q", o.Name, o.Engine).
			WithFix("Name one of aws, database, generic, kubernetes, kv and pki.")
	}
	if err := checkOffer(o); err != nil {
		return drawing{}, err
	}
	if o.Engine == secrets.EngineKubernetes && ttl < shortestPodToken {
		return drawing{}, fault.New(fault.Invalid, "credential %q: Kubernetes issues no token for %s", o.Name, ttl).
			WithFix("Ask for %s or more, and see that neither the service nor a policy allows less.", shortestPodToken)
	}
	return template(o, ttl), nil
}

// shortestPodToken is the least that the TokenRequest API takes.
const shortestPodToken = 10 * time.Minute

// ownMounts are Vault's own, which no offer is of.
func ownMounts() []string { return []string{"sys", "auth", "identity", "cubbyhole"} }

func checkOffer(o secrets.Offer) error {
	first, _, _ := strings.Cut(o.Mount, "/")
	switch {
	case !isPath(o.Mount, maxMount), slices.Contains(ownMounts(), strings.ToLower(first)):
		return refused(o, "mount", o.Mount, "Name the mount of a secrets engine, for example database or team-a/database.")
	case o.Engine == secrets.EngineKV && !isPath(o.Path, maxPath):
		return refused(o, "path", o.Path, "Name the secret below its mount by letters, digits, dots, hyphens and single slashes, for example checkout/api-key.")
	case o.Engine != secrets.EngineKV && !plainName.MatchString(o.Role):
		return refused(o, "role", o.Role, "Name a role of the engine by letters, digits, dots, hyphens and underscores.")
	case o.Engine == secrets.EngineKV && o.Role != "":
		return refused(o, "role", o.Role, "A KV secret has a path and no role.")
	case o.Engine != secrets.EngineKV && o.Path != "":
		return refused(o, "path", o.Path, "Only a KV secret has a path; name a role.")
	}
	return checkParams(o)
}

// checkParams lets through what the engine takes, in its form.
func checkParams(o secrets.Offer) error {
	known := map[string]map[string]func(string) bool{
		secrets.EngineKV:         {"version": func(v string) bool { return v == "1" || v == "2" }},
		secrets.EnginePKI:        {"commonName": isHost, "altNames": areHosts},
		secrets.EngineKubernetes: {"namespace": dnsLabel.MatchString},
	}[o.Engine]
	for name, value := range o.Params {
		fits, takes := known[name]
		if !takes {
			return refused(o, "parameter", name, "The engine "+o.Engine+" takes no such parameter.")
		}
		if !fits(value) {
			return refused(o, "parameter "+name, value, "See the guide to credentials for its form.")
		}
	}
	for engine, name := range map[string]string{secrets.EnginePKI: "commonName", secrets.EngineKubernetes: "namespace"} {
		if o.Engine == engine && o.Params[name] == "" {
			return refused(o, "parameter "+name, "", "The engine "+engine+" needs it.")
		}
	}
	return nil
}

func isHost(v string) bool { return len(v) <= 253 && hostName.MatchString(v) }

func areHosts(v string) bool {
	names := strings.Split(v, ",")
	return len(names) <= 20 && !slices.ContainsFunc(names, func(n string) bool { return !isHost(n) })
}

func refused(o secrets.Offer, what, value, fix string) error {
	return fault.New(fault.Invalid, "credential %q: %q will not do as its %s", clip(o.Name), clip(value), what).WithFix("%s", fix)
}

// clip keeps a message short, whatever is quoted in it.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// seconds is a duration as Vault takes it.
func seconds(d time.Duration) string { return d.Truncate(time.Second).String() }
