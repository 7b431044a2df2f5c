package gitops

import (
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// overridden refuses a change to what the application sets by itself: the file
// would say one thing, and another would be deployed.
func (s *site) overridden(c *changing) error {
	if s == nil {
		return nil
	}
	for _, o := range s.source.Overrides {
		if !o.covers(c) {
			continue
		}
		return fault.New(fault.FailedPrecondition, "Argo CD's application %s sets %s itself (%s), so a change of the file would have no effect", s.app, clip(o.Name, 200), o.In).
			WithFix("Change it in the Application, or have it taken out there.").WithDetail("application", s.app)
	}
	return nil
}

// covers tells whether what a change has touched is set by an Application.
func (o AppOverride) covers(c *changing) bool {
	switch o.In {
	case InKustomizeImages:
		im := parseImage(o.Name)
		return c.in.Change.Image != nil && (im.is(c.named) || c.named == im.name || strings.HasSuffix(c.named, "/"+im.name))
	case InKustomizeReplicas:
		for _, t := range c.touched {
			if strings.Contains(t.Path, "replicas") && (c.in.Change.Replicas != nil || strings.Contains(t.Path, "name="+o.Name+"]")) {
				return true
			}
		}
	case InHelmParameters, InHelmValues:
		for _, t := range c.touched {
			if !isKustomization(t.File) && (t.Path == o.Name || strings.HasPrefix(t.Path, o.Name+".") || strings.HasPrefix(o.Name, t.Path+".")) {
				return true
			}
		}
	}
	return false
}
