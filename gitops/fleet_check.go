package gitops

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// check tells what is wrong with a wish, and puts in what it leaves open.
func (in *PlanFleetInput) check() error {
	one := ProposeChangeInput{Environment: in.Environment, Change: in.Change, Reason: in.Reason, Evidence: in.Evidence}
	if err := one.check(); err != nil {
		return err
	}
	if strings.TrimSpace(strings.Join(in.Query, "")) == "" || len(in.Query) > 20 || len(strings.Join(in.Query, "\n")) > maxReason {
		return fault.New(fault.Invalid, "query is empty, or longer than 20 alternatives or %d bytes", maxReason).WithFix("Select the services by catalog filters, for example kind=component,spec.owner=payments.")
	}
	if in.MaxFailures < 0 || in.MaxFailures > maxFleet {
		return fault.New(fault.Invalid, "maxFailures is %d, not between 0 and %d", in.MaxFailures, maxFleet).WithFix("Give how many may fail before it stops.")
	}
	switch in.Until {
	case "":
		in.Until = UntilMerged
	case UntilMerged, UntilHealthy:
	default:
		return fault.New(fault.Invalid, "until: there is no %q", clip(in.Until, 80)).WithFix("Write merged or healthy.")
	}
	if len(in.Waves) == 0 {
		in.Waves = []string{"1", "10%", "50%"}
	}
	return in.checkWaves()
}

// checkWaves tells what is wrong with the sizes.
func (in *PlanFleetInput) checkWaves() error {
	if len(in.Waves) > 50 {
		return fault.New(fault.Invalid, "waves has %d sizes, more than 50", len(in.Waves)).WithFix("Give fewer: the last one repeats.")
	}
	if i := slices.IndexFunc(in.Waves, func(w string) bool { return waveSize(w, 100) == 0 }); i >= 0 {
		return fault.New(fault.Invalid, "waves: %q is no size", clip(in.Waves[i], 40)).WithFix("Write a number of services such as 5, or a part of them such as 25%%.")
	}
	return nil
}

// waveSize is a size out of so many, at least 1; 0 where it is none.
func waveSize(text string, of int) int {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || percent && n > 100 || n > maxFleet {
		return 0
	}
	if percent {
		n = max(1, (of*n+99)/100)
	}
	return n
}

// wavesOf parts the positions of those to propose into waves.
func wavesOf(sizes []string, positions []int) (out []WaveRange) {
	from, all := -1, len(positions)
	for i := 0; len(positions) > 0; i++ {
		n := min(waveSize(sizes[min(i, len(sizes)-1)], all), len(positions))
		to := positions[n-1]
		out = append(out, WaveRange{Wave: i + 1, From: from, To: to})
		positions, from = positions[n:], to
	}
	return out
}

// title says in a line what is changed.
func (in *PlanFleetInput) title() string {
	c := &changing{in: ProposeChangeInput{Change: in.Change}, env: in.Environment}
	if im := in.Change.Image; im != nil {
		c.named = im.Name
	}
	return strings.TrimPrefix(c.title(), ": ")
}
