package loan

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Delivery says how a program gets a credential. Without anything it is what
// the service and the engine name.
type Delivery struct {
	// Env are environment variables with the field that each holds.
	Env map[string]string
	// Files are environment variables with the field that is in the file that
	// each names; "" is all fields, as a JSON object.
	Files map[string]string
}

// variable is what can be set in an environment.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// unset are variables that change what a program is or how it is found, or that
// are Fairlead's own: a field's name sets none of them.
var unset = regexp.MustCompile(`^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|PROMPT_COMMAND|HOME|USER|SHELL|TERM|LD_.*|DYLD_.*|[A-Z]*PATH|[A-Z]*_OPTIONS|[A-Z]*OPT|FAIRLEAD_.*)$`)

// ParseDelivery reads VAR=FIELD for the environment, and VAR=FIELD or VAR for
// files. Fault: invalid.
func ParseDelivery(env, files []string) (Delivery, error) {
	d := Delivery{Env: map[string]string{}, Files: map[string]string{}}
	for _, it := range env {
		name, field, ok := strings.Cut(it, "=")
		if !ok || field == "" || !variable.MatchString(name) {
			return d, fault.New(fault.Invalid, "--env: %q is not VAR=FIELD", it).WithFix("Write for example --env DB_PASSWORD=password.")
		}
		d.Env[name] = field
	}
	for _, it := range files {
		name, field, named := strings.Cut(it, "=")
		if named && field == "" || !variable.MatchString(name) {
			return d, fault.New(fault.Invalid, "--file: %q is neither VAR=FIELD nor VAR", it).WithFix("Write for example --file DB_PASSWORD_FILE=password.")
		}
		if d.Env[name] != "" {
			return d, fault.New(fault.Invalid, "%s is set by --env and by --file", name).WithFix("Leave out one of them.")
		}
		d.Files[name] = field
	}
	return d, nil
}

// usual is what a program gets where nothing else is said: NAME_FIELD for each
// field, for a secret of kv also FIELD, and what the service and the engine
// name.
func (c *Credential) usual(named map[string]string) map[string]string {
	out := map[string]string{}
	for field := range c.fields {
		out[capitals(c.name+"_"+field)] = field
		if name := capitals(field); c.engine == "kv" && !unset.MatchString(name) {
			out[name] = field
		}
	}
	for name, field := range named {
		if _, there := c.fields[field]; there {
			out[name] = field
		}
	}
	maps.DeleteFunc(out, func(name, _ string) bool { return !variable.MatchString(name) || unset.MatchString(name) })
	return out
}

// capitals is a text as variables are named.
func capitals(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, s)
}

// environment gives the variables of a program, added to those that it gets
// anyway; files are written into dir, which is made if there are any.
func (c *Credential) environment(d Delivery, named map[string]string, base []string, dir *files) ([]string, error) {
	env := d.Env
	if len(d.Env)+len(d.Files) == 0 {
		env = c.usual(named)
	}
	set := map[string]string{}
	for name, field := range env {
		v, err := c.field(field)
		if err != nil {
			return nil, err
		}
		if set[name], err = inEnvironment(field, v); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		path, err := c.file(d.Files[name], dir)
		if err != nil {
			return nil, err
		}
		set[name] = path
	}
	out := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, replaced := set[name]
		return replaced || strings.HasPrefix(name, "FAIRLEAD_TOKEN")
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out, nil
}

func (c *Credential) field(name string) (value.Value, error) {
	v, ok := c.fields[name]
	if !ok {
		return v, fault.New(fault.Invalid, "the credential %s has no field %q", c.name, name).
			WithFix("It has %s.", strings.Join(slices.Sorted(maps.Keys(c.fields)), ", "))
	}
	return v, nil
}

// inEnvironment is a value as the environment of a program holds it. This and
// file are the places where the command line lets go of values.
func inEnvironment(field string, v value.Value) (s string, err error) {
	v.Reveal(func(b []byte) {
		if bytes.IndexByte(b, 0) >= 0 {
			err = fault.New(fault.Invalid, "the field %s holds a byte 0, which no environment variable can", field).WithFix("Use --file VAR=%s.", field)
			return
		}
		s = string(b)
	})
	return s, err
}

// file writes a field, or all of them, into a file and gives its path.
func (c *Credential) file(field string, dir *files) (string, error) {
	if field == "" {
		return c.allInFile(dir)
	}
	v, err := c.field(field)
	if err != nil {
		return "", err
	}
	path := ""
	v.Reveal(func(b []byte) { path, err = dir.write(filepath.Base(capitals(field)), b) })
	return path, err
}

func (c *Credential) allInFile(dir *files) (string, error) {
	all := map[string]json.RawMessage{}
	var err error
	for name, v := range c.fields {
		v.Reveal(func(b []byte) {
			if err == nil {
				all[name], err = json.Marshal(string(b))
			}
		})
	}
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	defer clear(data)
	return dir.write("all.json", data)
}
