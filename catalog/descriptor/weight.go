package descriptor

import "github.com/fairlead-dev/fairlead/catalog/entity"

// MaxFileWeight bounds what the documents of one file come to together, in
// bytes: few bytes can say very much, with aliases, or with placeholders that
// all read one large file.
const MaxFileWeight = 64 << 20

// weightOfValue is what every value and relation counts beside its text.
const weightOfValue = 32

// Weight is what a document comes to, in bytes, with aliases and placeholders
// written out.
func Weight(root *entity.Object, edges []entity.Edge, targets []Target) int64 {
	n := int64(len(edges)+len(targets)) * weightOfValue
	if root != nil {
		n += weigh(root)
	}
	return n
}

func weigh(v entity.Value) int64 {
	var n int64 = weightOfValue
	switch v := v.(type) {
	case entity.List:
		for i := range v {
			n += weigh(v[i].Value)
		}
	case *entity.Object:
		for i := range v.Len() {
			n += int64(len(v.Members[i].Key)) + weigh(v.Members[i].Value)
		}
	case string:
		n += int64(len(v))
	}
	return n
}

// TooHeavy is the problem of a document with which its file holds more than
// MaxFileWeight.
func TooHeavy(line uint32) entity.Problem {
	return entity.Problem{Name: "TooLargeError", Severity: entity.SeverityError, Line: line,
		Message: "with this document the file holds more than 64 MiB once aliases and placeholders are written out",
		Fix:     "Use fewer aliases and smaller files, or split the file."}
}
