package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/previews"
)

// prefix begins the names of all databases and roles that are made here.
const prefix = "pv_"

// maxName is how long a name may be in PostgreSQL, in bytes.
const maxName = 63

// nameOf names the database and the role of a preview's data. Ids and names
// hold no underscore, so that no two give the same; what is too long ends in
// a sum of the whole.
func nameOf(w previews.Wish, d previews.DataTemplate) string {
	name := prefix + w.ID + "_" + d.Name
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-17] + "_" + hex.EncodeToString(sum[:8])
}

// label is what the comment on a database says: whose it is, and how far it
// has come.
type label struct {
	// Fairlead is the installation that made it.
	Fairlead string `json:"fairlead"`
	Preview  string `json:"preview"`
	Data     string `json:"data"`
	Service  string `json:"service"`
	// Seed is the sum of what it was filled with, and Commit the last one at
	// which that was so; both are "" until it is filled.
	Seed   string `json:"seed,omitempty"`
	Commit string `json:"commit,omitempty"`
}

func (l label) String() string {
	text, err := json.Marshal(l)
	if err != nil { // texts always marshal
		panic(err)
	}
	return string(text)
}

// readLabel reads a comment; one that is no label is the zero one.
func readLabel(comment string) (l label) {
	if json.Unmarshal([]byte(comment), &l) != nil {
		return label{}
	}
	return l
}

// filled tells whether a database has been filled.
func (l label) filled() bool { return l.Seed != "" }

// sum tells seeds apart; that of no file is that of no bytes.
func sum(seed []byte) string {
	s := sha256.Sum256(seed)
	return hex.EncodeToString(s[:16])
}

// passwordOf is the password of a role.
func (p *Provider) passwordOf(name string) access.Secret {
	return previews.DerivePassword(p.key, "postgres password", p.cfg.Name, name)
}

// scramRounds is what PostgreSQL itself takes.
const scramRounds = 4096

// verifier is what PostgreSQL keeps of a password (SCRAM, RFC 5803): given that
// instead, the password is in no statement and in no log of the server.
func verifier(password access.Secret, salt []byte) (access.Secret, error) {
	salted, err := pbkdf2.Key(sha256.New, password.Reveal(), salt, scramRounds, sha256.Size)
	if err != nil {
		return access.Secret{}, err
	}
	keyed := func(text string) []byte {
		mac := hmac.New(sha256.New, salted)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(keyed("Client Key"))
	enc := base64.StdEncoding.EncodeToString
	return access.NewSecret(fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramRounds, enc(salt), enc(stored[:]), enc(keyed("Server Key")))), nil
}

// ident quotes a name, and literal a text, for a statement.
func ident(name string) string   { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
func literal(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }
