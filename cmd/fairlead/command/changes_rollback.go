package command

type changeRollbackCmd struct {
	Service     string   `arg:"" help:"The component." predictor:"ref"`
	Environment string   `arg:"" help:"The environment, for example staging."`
	Reason      string   `required:"" help:"Why, for who reviews it." placeholder:"TEXT"`
	Evidence    []string `help:"What shows that it is needed; the health is added." placeholder:"TEXT" sep:"none"`
	Key         string   `help:"Idempotency key; the same way back is the same proposal if left out." placeholder:"TEXT"`
	DryRun      bool     `help:"Show the plan and what policy would say, and propose nothing."`
	PlanHash    string   `help:"Hash of the plan that is meant, as --dry-run told it; another one is refused." placeholder:"HASH"`
	usageFlags
}

// Help shows examples.
func (changeRollbackCmd) Help() string {
	return `The files of the environment are restored to exactly what they were at the newest
earlier revision that was healthy, and that is proposed by pull request. Asking
again brings the same pull request up to date.

Examples:

  fairlead change rollback checkout production --reason "orders fail since 1.5.0"
  fairlead change rollback checkout production --reason "orders fail" --dry-run -o yaml`
}

// Run proposes a rollback.
func (r *changeRollbackCmd) Run(c *console) error {
	return propose(c, "/api/v1/rollbacks", map[string]any{"service": r.Service, "environment": r.Environment, "reason": r.Reason, "evidence": r.Evidence, "key": r.Key, "dryRun": r.DryRun, "planHash": r.PlanHash, "usage": r.report()})
}
