package previews

import "github.com/fairlead-dev/fairlead/internal/fault"

// there refuses where previews are not configured: the nil Service.
func (s *Service) there() error {
	if s != nil {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "previews are not configured here").
		WithFix("Have the operators add the section previews to the configuration, for example: previews: {deployers: {local: {}}}")
}
