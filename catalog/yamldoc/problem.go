package yamldoc

import (
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

func problemAt(at entity.Position, fix, format string, args ...any) entity.Problem {
	return entity.Problem{
		Severity: entity.SeverityError, Name: "InputError",
		Message: fmt.Sprintf(format, args...), Fix: fix,
		Line: at.Line, Column: at.Column,
	}
}

// quote shows a piece of the file in a message, cut if it is long.
func quote(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) > most {
		return fmt.Sprintf("%q…", string(r[:most]))
	}
	return fmt.Sprintf("%q", s)
}
