package access

import (
	"regexp"
	"strings"
)

// Job is a job, or the run of a workflow, of a forge's CI, which showed a token
// that its forge has issued to it.
type Job struct {
	// Forge is the name of the configured forge.
	Forge string
	// Repository is its full name there, such as acme/shop.
	Repository string
	// Kind is job or run, and ID its number at the forge.
	Kind, ID string
}

var (
	jobRepository = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){1,20}$`)
	jobNumber     = regexp.MustCompile(`^[0-9]{1,20}$`)
)

// Valid tells whether all is said, in names that a forge may have.
func (j Job) Valid() bool {
	return j.Forge != "" && (j.Kind == "job" || j.Kind == "run") && len(j.Repository) <= 200 && jobRepository.MatchString(j.Repository) && jobNumber.MatchString(j.ID)
}

// String is the job in a line; ParseJob reads it.
func (j Job) String() string { return j.Forge + "/" + j.Repository + "#" + j.Kind + "/" + j.ID }

// ParseJob reads what String gives; ok is false for anything else.
func ParseJob(text string) (j Job, ok bool) {
	place, number, _ := strings.Cut(text, "#")
	j.Forge, j.Repository, _ = strings.Cut(place, "/")
	j.Kind, j.ID, _ = strings.Cut(number, "/")
	return j, j.Valid()
}

// Job is the job of CI that the caller is; zero for all others.
func (c Caller) Job() Job {
	if c.id == nil {
		return Job{}
	}
	return c.id.job
}
