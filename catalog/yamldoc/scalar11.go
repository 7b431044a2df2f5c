package yamldoc

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// The forms of YAML 1.1, tried in this order.
var (
	binary11    = regexp.MustCompile(`^[-+]?0b[01_]+$`)
	octal11     = regexp.MustCompile(`^[-+]?0[0-7_]+$`)
	decimal11   = regexp.MustCompile(`^[-+]?[0-9][0-9_]*$`)
	hex11       = regexp.MustCompile(`^[-+]?0x[0-9a-fA-F_]+$`)
	special11   = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$`)
	exponent11  = regexp.MustCompile(`^[-+]?(?:[0-9][0-9_]*)?(?:\.[0-9_]*)?[eE][-+]?[0-9]+$`)
	fraction11  = regexp.MustCompile(`^[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*$`)
	sixty11     = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+$`)
	sixtyPart11 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$`)
	timestamp11 = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})` +
		`(?:(?:t|T|[ \t]+)([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(\.[0-9]+)?` +
		`(?:[ \t]*(Z|[-+][012]?[0-9](?::[0-9]{2})?))?)?$`)
)

// plain11 is what an unquoted scalar means in YAML 1.1.
func plain11(s string) entity.Value {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true
	case "N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false
	}
	if strings.IndexByte("+-.0123456789eE", s[0]) < 0 {
		return s
	}
	if f, ok := number11(s); ok {
		return f
	}
	if t, ok := timestamp(s); ok {
		return t
	}
	return s
}

// isInteger11 says whether a number of YAML 1.1 is an integer by its form.
func isInteger11(s string) bool {
	return binary11.MatchString(s) || octal11.MatchString(s) || decimal11.MatchString(s) || hex11.MatchString(s) || sixty11.MatchString(s)
}

func number11(s string) (float64, bool) {
	sign, digits := 1.0, strings.ReplaceAll(s, "_", "")
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	f := math.NaN()
	switch {
	case binary11.MatchString(s):
		f = whole(digits[2:], 2)
	case octal11.MatchString(s):
		f = whole(digits[1:], 8)
	case hex11.MatchString(s):
		f = whole(digits[2:], 16)
	case decimal11.MatchString(s), exponent11.MatchString(s), fraction11.MatchString(s):
		f = leadingNumber(digits)
	case special11.MatchString(s):
		if strings.EqualFold(digits, ".inf") {
			f = math.Inf(1)
		}
	case sixty11.MatchString(s), sixtyPart11.MatchString(s):
		f = sexagesimal(digits)
	default:
		return 0, false
	}
	if f == 0 {
		return 0, true // there is no -0 in JSON
	}
	return sign * f, true
}

// whole reads digits; none at all, as in "0x_", are not a number.
func whole(digits string, base int) float64 {
	if digits == "" {
		return math.NaN()
	}
	f, _ := integer(digits, base)
	return f
}

// leadingNumber reads as much of s as is a number.
func leadingNumber(s string) float64 {
	for n := len(s); n > 0; n-- {
		if decimal(s[:n]) {
			f, _ := strconv.ParseFloat(s[:n], 64)
			return f
		}
	}
	return math.NaN()
}

func sexagesimal(s string) float64 {
	total := 0.0
	for part := range strings.SplitSeq(s, ":") {
		f, _ := strconv.ParseFloat(part, 64)
		total = total*60 + f
	}
	return total
}

// timestamp is a date and time as JavaScript writes it in JSON.
func timestamp(s string) (string, bool) {
	m := timestamp11.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
	millis := 0
	if m[7] != "" {
		// Three characters behind the point, filled with zeros.
		millis, _ = strconv.Atoi((m[7] + "00")[1:4])
	}
	t := time.Date(year(n(1)), time.Month(n(2)), n(3), n(4), n(5), n(6), millis*int(time.Millisecond), time.UTC)
	if m[8] != "" && m[8] != "Z" {
		t = t.Add(-zone(m[8]))
	}
	return t.Format("2006-01-02T15:04:05.000Z"), true
}

// year is what JavaScript takes two digits for.
func year(n int) int {
	if n < 100 {
		return 1900 + n
	}
	return n
}

// zone is a difference to UTC: hours, or hours and minutes.
func zone(s string) time.Duration {
	minutes := sexagesimal(s[1:])
	if minutes < 30 {
		minutes *= 60
	}
	if s[0] == '-' {
		minutes = -minutes
	}
	return time.Duration(minutes) * time.Minute
}
