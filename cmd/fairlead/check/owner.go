package check

import (
	"cmp"
	"regexp"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// ownerOf is the owner that a document names, whatever else is wrong with it.
func ownerOf(d *descriptor.Document) string {
	if d.Raw == nil {
		return ""
	}
	return ownerRef(d.Raw.Object("spec").String("owner"), cmp.Or(d.Ref.Namespace, entity.DefaultNamespace))
}

func ownerRef(written, namespace string) string {
	if written == "" {
		return ""
	}
	ref, err := entity.ParseRef(written, "group", namespace)
	if err != nil {
		return ""
	}
	return ref.String()
}

// ownerOfFile is the first owner that any document names, else the one that
// the text seems to name, so that problems of broken YAML reach somebody.
func ownerOfFile(f *descriptor.File, data []byte) string {
	for _, d := range f.Documents {
		if owner := ownerOf(d); owner != "" {
			return owner
		}
	}
	m := regexp.MustCompile(`(?m)^[ \t]+owner:[ \t]*["']?([\w:/.@-]+)`).FindSubmatch(data)
	if m == nil {
		return ""
	}
	return ownerRef(string(m[1]), entity.DefaultNamespace)
}
