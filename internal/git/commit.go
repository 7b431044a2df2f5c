package git

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxCommit and maxTree bound commits, tags and single folders in bytes.
	maxCommit = 4 << 20
	maxTree   = 64 << 20
	// maxPeel bounds tags of tags.
	maxPeel = 10
)

var errNotCommit = errors.New("not a commit")

// commit is what is read of a commit.
type commit struct {
	id      objects.ID
	tree    objects.ID
	parents []objects.ID
	info    ingest.CommitInfo
}

// readCommit reads a commit, through annotated tags.
func readCommit(db *objects.DB, id objects.ID) (commit, error) {
	c, _, err := readCommitText(db, id)
	return c, err
}

// readCommitText is readCommit, and gives the commit as it is written, too.
func readCommitText(db *objects.DB, id objects.ID) (commit, []byte, error) {
	for range maxPeel {
		kind, data, err := db.Read(id, maxCommit)
		if err != nil {
			return commit{}, nil, err
		}
		switch kind {
		case objects.Commit:
			c, err := parseCommit(id, data)
			return c, data, err
		case objects.Tag:
			var ok bool
			if id, ok = objects.ParseID(header(data, "object ")); !ok {
				return commit{}, nil, objects.ErrCorrupt
			}
		default:
			return commit{}, nil, errNotCommit
		}
	}
	return commit{}, nil, errNotCommit
}

func parseCommit(id objects.ID, data []byte) (commit, error) {
	c := commit{id: id, info: ingest.CommitInfo{Commit: id.String()}}
	var ok bool
	if c.tree, ok = objects.ParseID(header(data, "tree ")); !ok {
		return commit{}, objects.ErrCorrupt
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			break
		}
		if p, ok := bytes.CutPrefix(line, []byte("parent ")); ok {
			if id, ok := objects.ParseID(string(p)); ok {
				c.parents = append(c.parents, id)
			}
		}
		if a, ok := bytes.CutPrefix(line, []byte("author ")); ok {
			c.info.Author, c.info.Time = parseAuthor(string(a))
		}
	}
	return c, nil
}

// header is the first line after key; "" where it does not start with key.
func header(data []byte, key string) string {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
		return string(rest)
	}
	return ""
}

// parseAuthor reads "Name <mail> seconds zone". The author is the name, or
// the address where there is no name.
func parseAuthor(s string) (string, time.Time) {
	name, rest, _ := strings.Cut(s, "<")
	mail, when, _ := strings.Cut(rest, ">")
	name = strings.ToValidUTF8(strings.TrimSpace(name), "\ufffd")
	if name == "" {
		name = strings.ToValidUTF8(mail, "\ufffd")
	}
	seconds, zone, _ := strings.Cut(strings.TrimSpace(when), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return name, time.Time{}
	}
	return name, time.Unix(n, 0).In(parseZone(zone))
}

// parseZone reads "+0130".
func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	if err != nil || n == 0 || n < -1400 || n > 1400 {
		return time.UTC
	}
	return time.FixedZone("", (n/100)*3600+(n%100)*60)
}
