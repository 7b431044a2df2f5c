// Package offer reads what entities declare that they lend: the credentials
// under spec.fairlead.credentials, and the secret that vault.io/secrets-path
// names. It asks nobody.
package offer

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The engines that credentials come from.
const (
	EngineDatabase   = "database"
	EngineKV         = "kv"
	EnginePKI        = "pki"
	EngineKubernetes = "kubernetes"
	EngineAWS        = "aws"
	// EngineGeneric issues at MOUNT/creds/ROLE, as most engines do.
	EngineGeneric = "generic"
)

// MinTTL is the shortest time that a credential can be lent for.
const MinTTL = 30 * time.Second

// Offer is a credential that a service may lend, as its catalog file declares
// it under spec.fairlead.credentials, or with vault.io/secrets-path.
type Offer struct {
	// Name is what it is asked for by.
	Name string `json:"name"`
	// Engine makes it; Mount is where that is mounted, without slashes at the
	// ends.
	Engine string `json:"engine"`
	Mount  string `json:"mount"`
	// Role is the engine's, where it has roles; Path is that of a KV secret
	// below its mount.
	Role string `json:"role,omitempty"`
	Path string `json:"path,omitempty"`
	// Params are what the engine takes besides: commonName of pki, namespace of
	// kubernetes.
	Params map[string]string `json:"params,omitempty"`
	// MaxTTL is the longest that it is lent for; 0 leaves that to policy.
	MaxTTL time.Duration `json:"maxTTL,omitempty"`
	// Environments are those of the service that it is for; none is all.
	Environments []string `json:"environments,omitempty"`
	// Env names environment variables by the fields that they take.
	Env map[string]string `json:"env,omitempty"`
}

// What may stand in an offer, so that nothing that is asked of an issuer names
// another place there than its author sees: no segment is empty, "." or "..",
// and nothing is encoded.
var (
	offerName  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	offerPath  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
	offerRole  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	offerField = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)
	offerEnv   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// Bounds of what an entity may offer.
const (
	maxOffers = 100
	maxPath   = 300
)

// The annotations that name a KV secret, and the mount it is at.
const (
	annotationPath  = "vault.io/secrets-path"
	annotationMount = "vault.io/secrets-engine"
	// annotationOffer is what such a secret is asked for by.
	annotationOffer = "vault"
)

const offerKeys = "name, mount, role, engine, path, params, maxTTL, environments and env"

// declared is an offer as it is written, and what is wrong with it.
type declared struct {
	Offer
	at    entity.Position
	wrong *fault.Error
}

// Problems tells what is wrong with the credentials that an entity's
// file offers. They are warnings: nothing of it keeps an entity out of the
// catalog.
func Problems(e *catalog.Entity) []catalog.Problem {
	var out []catalog.Problem
	for _, d := range offersOf(e) {
		if d.wrong != nil {
			out = append(out, catalog.Problem{Severity: entity.SeverityWarning, Name: "DeclarationError", Message: strings.TrimPrefix(d.wrong.Message, place(e, d.at)+": "),
				File: e.From.Path, Line: d.at.Line, Column: d.at.Column, Ref: e.Ref.String(), Fix: d.wrong.Fix})
		}
	}
	return out
}

// Of finds what an entity offers by a name. Faults: invalid (the name),
// failed_precondition (it is declared wrong, or nothing is).
func Of(e *catalog.Entity, name string) (Offer, error) {
	if !offerName.MatchString(name) {
		return Offer{}, fault.New(fault.Invalid, "name: %.80q is no name of a credential", name).WithFix("Write lower-case letters, digits and -, at most 63.")
	}
	all := offersOf(e)
	var names []string
	for _, d := range all {
		switch {
		case d.Name == name && d.wrong != nil:
			return Offer{}, d.wrong
		case d.Name == name:
			return d.Offer, nil
		case d.wrong == nil:
			names = append(names, d.Name)
		}
	}
	if len(names) > 0 {
		return Offer{}, fault.New(fault.Invalid, "name: %s lends no credential %q", e.Ref, name).WithFix("It lends %s.", strings.Join(names, ", "))
	}
	for _, d := range all {
		return Offer{}, d.wrong
	}
	return Offer{}, fault.New(fault.FailedPrecondition, "%s lends no credentials", e.Ref).
		WithFix("Add to %s, under spec.fairlead: credentials: [{name: db-readonly, mount: database, role: ROLE, maxTTL: 1h}]", place(e, entity.Position{}))
}

// offersOf reads all that an entity offers, in the order it is written.
func offersOf(e *catalog.Entity) []declared {
	out := []declared{}
	said, there := e.Spec().Object("fairlead").Lookup("credentials")
	list, isList := said.(entity.List)
	if there && !isList {
		at := e.Spec().Object("fairlead").Position("credentials")
		out = append(out, declared{at: at, wrong: misdeclared(e, at, "", "is no list such as [{name: db-readonly, mount: database, role: ROLE}]")})
	}
	seen := map[string]bool{}
	for i, it := range list {
		d := readOffer(e, it)
		switch {
		case i >= maxOffers:
			d.wrong = misdeclared(e, it.At, "", fmt.Sprintf("holds more than %d", maxOffers))
			return append(out, d)
		case d.wrong == nil && seen[d.Name]:
			d.wrong = misdeclared(e, it.At, ".name", fmt.Sprintf("%q is there twice", d.Name))
		}
		seen[d.Name] = true
		out = append(out, d)
	}
	if d, ok := annotated(e); ok && !seen[d.Name] {
		out = append(out, d)
	}
	return out
}

// annotated is the offer that annotations make.
func annotated(e *catalog.Entity) (d declared, ok bool) {
	path := e.Annotation(annotationPath)
	if path == "" {
		return d, false
	}
	d.Offer = Offer{Name: annotationOffer, Engine: EngineKV, Mount: cmp.Or(e.Annotation(annotationMount), "secret"), Path: path}
	d.at = e.Metadata().Object("annotations").Position(annotationPath)
	if key, wrong := d.check(); wrong != "" {
		name := map[string]string{"mount": annotationMount}[key]
		d.wrong = fault.New(fault.FailedPrecondition, "%s: the annotation %s of %s %s", place(e, d.at), cmp.Or(name, annotationPath), e.Ref, wrong).
			WithFix("Write a path such as team/service, without %%, empty parts and ..")
	}
	return d, true
}

func misdeclared(e *catalog.Entity, at entity.Position, field, wrong string) *fault.Error {
	return fault.New(fault.FailedPrecondition, "%s: spec.fairlead.credentials%s of %s %s", place(e, at), field, e.Ref, wrong).
		WithFix("Correct the catalog file; a credential takes %s.", offerKeys)
}

// place names where something is written.
func place(e *catalog.Entity, at entity.Position) string {
	switch {
	case e.From.Path == "":
		return e.Ref.String()
	case at.Line == 0:
		return e.From.Path
	}
	return fmt.Sprintf("%s:%d", e.From.Path, at.Line)
}

// readOffer reads one.
func readOffer(e *catalog.Entity, it entity.Item) declared {
	o, ok := it.Value.(*entity.Object)
	if !ok {
		return declared{at: it.At, wrong: misdeclared(e, it.At, "", "holds what is no mapping such as {name: db-readonly, mount: database, role: ROLE}")}
	}
	d := declared{at: it.At}
	d.Name = o.String("name") // whatever else is wrong, it is found by that
	for _, m := range o.Members {
		if wrong := d.read(m.Key, m.Value); wrong != "" {
			d.at, d.wrong = m.At, misdeclared(e, m.At, fmt.Sprintf(".%.80s", m.Key), wrong)
			return d
		}
	}
	d.Engine = cmp.Or(d.Engine, engineOf(&d.Offer))
	if key, wrong := d.check(); wrong != "" {
		d.at = o.Position(key)
		d.wrong = misdeclared(e, d.at, "."+key, wrong)
	}
	return d
}

// read reads one key; wrong says what is wrong with it.
func (o *Offer) read(key string, v entity.Value) (wrong string) {
	text, isText := v.(string)
	switch key {
	case "name":
		o.Name = text
	case "mount":
		o.Mount = strings.Trim(text, "/")
	case "role":
		o.Role = text
	case "engine":
		o.Engine = text
	case "path":
		o.Path = strings.Trim(text, "/")
	case "maxTTL":
		d, err := time.ParseDuration(text)
		if err != nil || d < MinTTL {
			return "is no duration of at least 30s, such as 1h"
		}
		o.MaxTTL = d
	case "params":
		o.Params, wrong = texts(v)
		return wrong
	case "env":
		o.Env, wrong = texts(v)
		return wrong
	case "environments":
		return o.readEnvironments(v)
	default:
		return "is no key of a credential"
	}
	if !isText || text == "" {
		return "is no text"
	}
	return ""
}

func (o *Offer) readEnvironments(v entity.Value) (wrong string) {
	list, _ := v.(entity.List)
	for _, it := range list {
		s, ok := it.Value.(string)
		if !ok || s == "" {
			return "is no list of names"
		}
		o.Environments = append(o.Environments, s)
	}
	if len(o.Environments) == 0 {
		return "is no list of names"
	}
	return ""
}

// texts reads a mapping of names to texts.
func texts(v entity.Value) (out map[string]string, wrong string) {
	o, ok := v.(*entity.Object)
	if !ok || o.Len() > maxOffers {
		return nil, "is no mapping of at most 100 names to texts"
	}
	out = make(map[string]string, o.Len())
	for key, v := range o.All() {
		s, ok := v.(string)
		if !ok || s == "" || len(s) > maxPath || strings.ContainsFunc(s, unicode.IsControl) || !offerField.MatchString(key) {
			return nil, fmt.Sprintf("holds %.80q, which is not a name with a text", key)
		}
		out[key] = s
	}
	return out, ""
}

// engineOf is the engine of an offer that names none.
func engineOf(o *Offer) string {
	for _, e := range []struct{ begins, engine string }{{"database", EngineDatabase}, {"pki", EnginePKI}, {"aws", EngineAWS}, {"kubernetes", EngineKubernetes}, {"kv", EngineKV}, {"secret", EngineKV}} {
		if strings.HasPrefix(o.Mount, e.begins) {
			return e.engine
		}
	}
	if o.Role == "" {
		return EngineKV
	}
	return EngineGeneric
}

// unset are variables that change what a program is, or how it is found, and
// that no credential goes into.
var unset = regexp.MustCompile(`^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|PROMPT_COMMAND|HOME|SHELL|LD_.*|DYLD_.*|[A-Z]*PATH|[A-Z]*_OPTIONS|[A-Z]*OPT|FAIRLEAD_.*)$`)

// check names a key and what is wrong with it.
func (o *Offer) check() (key, wrong string) {
	engines := []string{EngineDatabase, EngineKV, EnginePKI, EngineKubernetes, EngineAWS, EngineGeneric}
	kv := o.Engine == EngineKV
	switch {
	case !offerName.MatchString(o.Name):
		return "name", "is not made of lower-case letters, digits and -, at most 63"
	case !slices.Contains(engines, o.Engine):
		return "engine", "is none of " + strings.Join(engines, ", ")
	case !isPath(o.Mount):
		return "mount", "is no mount such as database or team/database"
	case kv && !isPath(o.Path):
		return "path", "is no path such as team/service"
	case kv && o.Role != "":
		return "role", "says which, but a secret of the engine kv has a path and no role"
	case !kv && o.Path != "":
		return "path", "is for the engine kv alone; others have a role"
	case !kv && !offerRole.MatchString(o.Role):
		return "role", "is no name of a role"
	}
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		if !offerEnv.MatchString(name) || unset.MatchString(name) {
			return "env", fmt.Sprintf("holds %.80q, which no credential can be put into", name)
		}
		if !offerField.MatchString(o.Env[name]) {
			return "env", fmt.Sprintf("holds %.80q, which is no name of a field", o.Env[name])
		}
	}
	return "", ""
}

// isPath tells whether a text can be a mount, or a path below one.
func isPath(s string) bool { return len(s) <= maxPath && offerPath.MatchString(s) }

// Variables are the environment variables of an offer, each with its field.
// What cannot be told without the credential, its fields' own names, is left to
// who opens it: NAME_FIELD, in capitals.
func (o *Offer) Variables() map[string]string {
	out := map[string]string{}
	switch o.Engine {
	case EngineDatabase:
		out["PGUSER"], out["PGPASSWORD"] = "username", "password"
	case EngineAWS:
		out["AWS_ACCESS_KEY_ID"], out["AWS_SECRET_ACCESS_KEY"], out["AWS_SESSION_TOKEN"] = "access_key", "secret_key", "security_token"
	}
	maps.Copy(out, o.Env)
	return out
}
