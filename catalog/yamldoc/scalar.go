package yamldoc

import (
	"math"
	"math/big"
	"strconv"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// plain is what an unquoted scalar means in the core schema of YAML 1.2.
func plain(s string) entity.Value {
	if s == "" {
		return nil
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+':
		if f, ok := number(s); ok {
			return f
		}
	case c == '~' || c == 'n' || c == 'N' || c == 't' || c == 'T' || c == 'f' || c == 'F':
		return word(s)
	}
	return s
}

func word(s string) entity.Value {
	switch s {
	case "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	return s
}

// number reads the numbers of the core schema: decimal without regard to
// leading zeros, 0o octal, 0x hexadecimal, fractions, exponents, infinities.
func number(s string) (float64, bool) {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'o' || s[1] == 'x') {
		base := 8
		if s[1] == 'x' {
			base = 16
		}
		return integer(s[2:], base)
	}
	rest, sign := s, 1.0
	if s[0] == '-' || s[0] == '+' {
		rest = s[1:]
		if s[0] == '-' {
			sign = -1
		}
	}
	switch rest {
	case ".inf", ".Inf", ".INF":
		return math.Inf(int(sign)), true
	}
	switch s {
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	}
	if !decimal(rest) {
		return 0, false
	}
	// Out of range gives the infinities, as in JavaScript.
	f, _ := strconv.ParseFloat(rest, 64)
	if f == 0 {
		return 0, true // there is no -0 in JSON
	}
	return sign * f, true
}

// decimal says whether s is digits with at most one point and an exponent.
func decimal(s string) bool {
	whole := digits(s)
	i, fraction := whole, 0
	if i < len(s) && s[i] == '.' {
		fraction = digits(s[i+1:])
		i += 1 + fraction
	}
	if whole+fraction == 0 {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		n := digits(s[i:])
		return n > 0 && i+n == len(s)
	}
	return i == len(s)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// integer reads digits of a base that is a power of two, rounding to a double
// what is longer than one.
func integer(s string, base int) (float64, bool) {
	for i := 0; i < len(s); i++ {
		if d := digit(s[i]); d >= base {
			return 0, false
		}
	}
	if n, err := strconv.ParseUint(s, base, 63); err == nil {
		return float64(n), true
	}
	return long(s, base), true
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return math.MaxInt
}

// long reads digits that no 64 bits hold, rounding as a double does.
func long(s string, base int) float64 {
	const most = 400 // digits; what has more is beyond the doubles
	for len(s) > 0 && s[0] == '0' {
		s = s[1:]
	}
	if len(s) > most {
		return math.Inf(1)
	}
	n, _ := new(big.Int).SetString(s, base)
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}
