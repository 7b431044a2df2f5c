package infer

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Measure is how an objective is measured by Prometheus: expressions over the
// time that Window stands for. What is not said is "".
type Measure struct {
	// Ratio is the share of what went wrong, between 0 and 1. Bad, Good and Total
	// are rates, of which Total and one of the others make it.
	Ratio string `json:"ratio,omitempty"`
	Bad   string `json:"bad,omitempty"`
	Good  string `json:"good,omitempty"`
	Total string `json:"total,omitempty"`
}

// windowMark stands for the time in an expression.
const windowMark = "$window"

// maxExpression is the size in bytes of the largest expression that is kept.
const maxExpression = 4 << 10

// slothMark is how Sloth writes the time; ranged is a range in an expression,
// which is the time where nothing else is.
var (
	slothMark = regexp.MustCompile(`\{\{\s*\.window\s*\}\}`)
	ranged    = regexp.MustCompile(`\[\s*[0-9]+(?:ms|[smhdwy])(?:[0-9]+(?:ms|[smhdwy]))*\s*\]`)
)

// measured is an expression with the mark for the time; "" where there is none,
// or no place for the time in it.
func measured(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxExpression {
		return ""
	}
	text = slothMark.ReplaceAllLiteralString(text, windowMark)
	if !strings.Contains(text, windowMark) {
		text = ranged.ReplaceAllLiteralString(text, "["+windowMark+"]")
	}
	if !strings.Contains(text, windowMark) || strings.Contains(text, "{{") {
		return ""
	}
	return text
}

// slothMeasure reads the indicator of one of Sloth's objectives, as it is
// written in a file of its own or in Kubernetes.
func slothMeasure(sli *yaml.Node) Measure {
	either := func(keys ...[]string) string {
		for _, k := range keys {
			if text := scalar(sli, k...); text != "" {
				return measured(text)
			}
		}
		return ""
	}
	return Measure{
		Ratio: either([]string{"raw", "error_ratio_query"}, []string{"raw", "errorRatioQuery"}),
		Bad:   either([]string{"events", "error_query"}, []string{"events", "errorQuery"}),
		Total: either([]string{"events", "total_query"}, []string{"events", "totalQuery"}),
	}
}

// openMeasure reads the indicator of an OpenSLO object.
func openMeasure(spec *yaml.Node) Measure {
	ratio := child(spec, "ratioMetric")
	of := func(key string) string {
		source := at(ratio, key, "metricSource")
		if source == nil {
			source = child(ratio, key)
		}
		if kind := scalar(source, "type"); kind != "" && !strings.EqualFold(kind, "prometheus") {
			return ""
		}
		return measured(cmp.Or(scalar(source, "spec", "query"), scalar(source, "query"), scalar(source, "spec", "promql")))
	}
	m := Measure{Good: of("good"), Bad: of("bad"), Total: of("total")}
	if scalar(ratio, "rawType") == "failure" {
		m.Ratio = of("raw")
	}
	return m
}

// pyrraMeasure reads the indicator of one of Pyrra's objectives.
func pyrraMeasure(indicator *yaml.Node) Measure {
	rate := func(keys ...string) string {
		metric := scalar(indicator, keys...)
		if metric == "" || len(metric) > maxExpression {
			return ""
		}
		return "sum(rate(" + metric + "[" + windowMark + "]))"
	}
	m := Measure{Bad: rate("ratio", "errors", "metric"), Total: rate("ratio", "total", "metric")}
	if m == (Measure{}) {
		m = Measure{Good: rate("latency", "success", "metric"), Total: rate("latency", "total", "metric")}
	}
	return m
}

// Errors is the expression for the share of what went wrong over a window as
// files write one: a number and a unit, in capitals for months, quarters and
// years. It is "" where that cannot be measured.
func (m Measure) Errors(window string) string {
	w := promWindow(window)
	expression := ""
	switch {
	case w == "":
	case m.Ratio != "":
		expression = "sum(" + m.Ratio + ")"
	case m.Total != "" && m.Bad != "":
		expression = "(sum(" + m.Bad + ") or vector(0)) / (sum(" + m.Total + ") > 0)"
	case m.Total != "" && m.Good != "":
		expression = "1 - (sum(" + m.Good + ") or vector(0)) / (sum(" + m.Total + ") > 0)"
	}
	return strings.ReplaceAll(expression, windowMark, w)
}

// promWindow is a time as Prometheus writes it.
func promWindow(window string) string {
	n := strings.TrimRight(window, "smhdwyMQY")
	if n == "" || strings.Trim(n, "0123456789") != "" || len(n) > 4 {
		return ""
	}
	switch unit := window[len(n):]; unit {
	case "s", "m", "h", "d", "w", "y":
		return window
	case "M":
		return days(n, 30)
	case "Q":
		return days(n, 90)
	case "Y":
		return n + "y"
	default:
		return ""
	}
}

// days are so many times a number of days.
func days(n string, each int) string {
	count, err := strconv.Atoi(n)
	if err != nil {
		return ""
	}
	return strconv.Itoa(count*each) + "d"
}
