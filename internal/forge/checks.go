package forge

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"slices"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The bounds of what is read of the checks of a commit.
const (
	// CheckPages is how many pages of a kind of check are read.
	CheckPages = 5
	// MostExplained is of how many checks that failed it is read why.
	MostExplained = 3
	// MostLines is how many lines of a log or of annotations are given of each.
	MostLines = 8
)

// Refused tells that a host answered with one of some statuses.
func Refused(err error, statuses ...int) bool {
	var status *StatusError
	return errors.As(err, &status) && !status.Limited && slices.Contains(statuses, status.Status)
}

// NoCommit is the fault of a revision that names none.
func NoCommit(repository, revision string) error {
	return fault.New(fault.NotFound, "there is no commit, branch or tag %.80q in %s", revision, repository).WithFix("Push it, or give the name of another.")
}

// Part adds what one kind of check gave. A host that keeps it from the token
// leaves what is known in part; any other error is one of the whole.
func Part(into *gitops.CommitChecks, kind string, some []gitops.CheckRun, all bool, err error) error {
	switch {
	case Refused(err, http.StatusForbidden, http.StatusNotFound):
		into.Blind = append(into.Blind, kind+" (the token may not read them)")
		return nil
	case err != nil:
		return err
	case !all:
		into.Blind = append(into.Blind, kind+" (there are more than are read)")
	}
	into.Checks = append(into.Checks, some...)
	return nil
}

// Explain has it read of some checks that failed why.
func Explain(all []gitops.CheckRun, why func(*gitops.CheckRun) error) {
	most := MostExplained
	for i := range all {
		c := &all[i]
		if c.State != gitops.CheckFailed || c.Optional || most == 0 {
			continue
		}
		most--
		if err := why(c); err != nil {
			c.Detail = append(c.Detail, "why is not known: "+fault.From(err).Message)
		}
	}
}

// Word is what a host says of a check where it says more than its state.
func Word(word string, known ...string) string {
	if slices.Contains(known, word) {
		return ""
	}
	return word
}

// CheckPaged gathers pages of checks until one comes that is not full; all is
// false where there are more than are read.
func CheckPaged[T any](size int, page func(n int) ([]T, error)) (out []T, all bool, err error) {
	return paged(size, CheckPages, page)
}

// maxTail is how much of the end of a log is looked at, in bytes.
const maxTail = 16 << 10

// Tail are the last lines of a log.
func Tail(log []byte) []string {
	if len(log) > maxTail {
		log = log[len(log)-maxTail:]
		log = log[bytes.IndexByte(log, '\n')+1:] // what is left of a line may be part of a secret
	}
	// Forges put the time before each line; those of GitLab also name the stream.
	stamp := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[\d:.]+Z (\d\d[OE][ +])?`)
	return gitops.Lines(string(stamp.ReplaceAll(log, nil)), MostLines)
}
