package command

import (
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/oracle"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/check"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The formats that only checks print in.
const (
	formatSARIF  = "sarif"
	formatOracle = "oracle"
	// formatComment is Markdown for a pull request.
	formatComment = "comment"
)

type checkCmd struct {
	Paths []string `arg:"" name:"path" help:"Catalog files, and folders below which every catalog-info.yaml is checked." predictor:"file"`
	All   bool     `help:"Check every YAML file of the folders, whatever its name."`
	Diff  *string  `help:"Also tell what changes in the catalog since this revision: a branch, a tag, a commit, or BRANCH... for where it was branched off." placeholder:"REV"`
	Kind  []string `help:"A further kind of entities that your server lets in." placeholder:"KIND"`
	Type  string   `help:"With -o oracle: read the folder as url or file." placeholder:"TYPE"`
	Base  string   `help:"With -o oracle: the URL that stands for the folder." placeholder:"URL"`
	Rules string   `help:"With -o oracle: the kinds let in, all or default." placeholder:"RULES"`
}

// Help shows examples.
func (checkCmd) Help() string {
	return `No server is asked. Locations are followed within the repository. The exit
code is 1 if there are errors; warnings do not count. With -o oracle the
result is one JSON document that says what becomes of every file, for
comparison with Backstage.

With --diff the result is what a merge would change: entities added, changed
and removed, relations made and broken, names claimed twice, problems that are
new. The files are compared with those at REV in their Git repository; the
exit code is then 1 if the change adds errors, conflicts or broken relations.
-o comment writes it as Markdown for a pull request.

Examples:

  fairlead catalog check .
  fairlead catalog check catalog-info.yaml services/ -o json
  fairlead catalog check . --diff origin/main...
  fairlead catalog check . --diff origin/main -o comment > comment.md
  fairlead catalog check . -o sarif > catalog.sarif
  fairlead catalog check templates --all --kind Workflow
  fairlead catalog check ./catalog -o oracle --type file`
}

func (checkCmd) formats() []string {
	return []string{formatTable, formatJSON, formatYAML, formatSARIF, formatComment, formatOracle}
}

// Run checks.
func (k *checkCmd) Run(c *console) error {
	switch {
	case c.Output == formatOracle:
		return k.oracle(c)
	case c.Output == formatComment && k.Diff == nil:
		return fault.New(fault.Invalid, "-o comment is about a change").WithFix("Add --diff REV, for example --diff origin/main.")
	}
	if k.Type != "" || k.Base != "" || k.Rules != "" {
		return fault.New(fault.Invalid, "--type, --base and --rules are for -o oracle").WithFix("Leave them out, or add -o oracle.")
	}
	if k.Diff != nil {
		return k.compare(c)
	}
	var report *check.Report
	var err error
	c.during("checking "+strings.Join(k.Paths, " "), func() {
		report, err = check.Run(c.ctx, check.Options{Paths: k.Paths, All: k.All, Kinds: k.Kind})
	})
	if err != nil {
		return err
	}
	if err := k.print(c, report); err != nil {
		return err
	}
	if report.Count(entity.SeverityError) > 0 {
		return errNo
	}
	return nil
}

func (k *checkCmd) oracle(c *console) error {
	if len(k.Paths) != 1 || k.All || len(k.Kind) > 0 || k.Diff != nil {
		return fault.New(fault.Invalid, "-o oracle is about one folder, read whole").WithFix("Name one folder, without --all, --kind and --diff.")
	}
	return oracle.Run(c.ctx, oracle.Options{Dir: k.Paths[0], Type: k.Type, Base: k.Base, Rules: k.Rules}, c.Out)
}

// compare checks what a change makes of the catalog.
func (k *checkCmd) compare(c *console) error {
	var d *check.Diff
	var err error
	c.during("comparing "+strings.Join(k.Paths, " ")+" with "+*k.Diff, func() {
		d, err = check.Compare(c.ctx, check.Options{Paths: k.Paths, All: k.All, Kinds: k.Kind}, *k.Diff)
	})
	if err != nil {
		return err
	}
	if err := printDiff(c, d); err != nil {
		return err
	}
	if d.Worse {
		return errNo
	}
	return nil
}

func printDiff(c *console, d *check.Diff) error {
	shown := &render.Comparison{Difference: &d.Difference, Rev: d.Rev, Files: d.Files, Entities: d.Entities}
	for _, b := range d.Bases {
		shown.Commits = append(shown.Commits, b.Commit)
	}
	switch c.Output {
	case formatTable:
		p := c.page()
		p.Difference(shown)
		return p.Err()
	case formatComment:
		return render.Comment(c.Out, shown)
	case formatSARIF:
		raw, err := d.SARIF(c.Version)
		return printRaw(c, raw, err)
	}
	raw, err := json.Marshal(d)
	return printRaw(c, raw, err)
}

func printRaw(c *console, raw []byte, err error) error {
	switch {
	case err != nil:
		return fault.New(fault.Internal, "the findings cannot be written").Because(err)
	case c.Output == formatYAML:
		return render.YAML(c.Out, raw)
	default:
		return render.JSON(c.Out, raw)
	}
}

func (k *checkCmd) print(c *console, r *check.Report) error {
	if c.Output == formatTable {
		return printFindings(c.page(), r)
	}
	if c.Output == formatSARIF {
		raw, err := r.SARIF(c.Version)
		return printRaw(c, raw, err)
	}
	findings := r.Findings
	if findings == nil {
		findings = []check.Finding{}
	}
	raw, err := json.Marshal(findings)
	return printRaw(c, raw, err)
}

func printFindings(p *render.Page, r *check.Report) error {
	for i := range r.Findings {
		p.Problem(r.Findings[i].Problem, r.Findings[i].Owner)
	}
	if len(r.Findings) > 0 {
		p.Line()
	}
	errs, warns := r.Count(entity.SeverityError), r.Count(entity.SeverityWarning)
	verdict := p.Good("no problems")
	switch {
	case errs > 0:
		verdict = p.Bad(render.Plural(errs, "error"))
	case warns > 0:
		verdict = ""
	}
	if warns > 0 {
		verdict = strings.TrimPrefix(verdict+", "+p.Warn(render.Plural(warns, "warning")), ", ")
	}
	p.Line(verdict, " in ", render.Plural(r.Files, "file"), ", ", render.Entities(r.Entities), " described")
	return p.Err()
}
