package gitops

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// renders says what the site is rendered as: its folder, or where one of its
// files describes it, the folder of that with its values; with what the
// application adds, where that is known.
func (s *site) renders(live *LiveApplication, app string) {
	r := &Render{Dir: s.at.Dir, Release: cmp.Or(path.Base(app), s.name), Namespace: "default"}
	if app == "" {
		r.Release = s.name
	}
	if isYAML(s.at.Dir) {
		r.Dir = strings.TrimPrefix(path.Dir(s.at.Dir), ".")
		switch base := path.Base(s.at.Dir); {
		case isKustomization(base), base == "values.yaml", base == "Chart.yaml":
		default:
			r.Values = []string{s.at.Dir}
		}
	}
	s.render = r
	if live != nil && s.source.Repository != "" {
		s.rendersLive(live)
	}
}

// rendersLive says what Argo CD renders, as far as that is in this repository.
func (s *site) rendersLive(live *LiveApplication) {
	r, source := s.render, s.source
	r.Release, r.Namespace = path.Base(live.Name), cmp.Or(live.Namespace, r.Namespace)
	if source.Path == "" { // it gives values to another
		if source = live.user(s.source.Ref); source.Repository == "" {
			return
		}
		if source.Chart != "" || !sameRepository(source.Repository, s.source.Repository) {
			r.Away = fmt.Sprintf("its chart is %s of %s, which is not fetched", cmp.Or(source.Chart, source.Path), source.Repository)
			return
		}
	}
	r.Dir = strings.TrimPrefix(path.Clean("/"+source.Path), "/")
	r.Release, r.Lenient = cmp.Or(source.Release, r.Release), source.Lenient
	r.Values = []string{}
	for _, file := range source.Values {
		at, here := s.valuesFile(live, r.Dir, file)
		if !here {
			r.Away = fmt.Sprintf("its values are in %s, which is not fetched", plainRepo(file))
			return
		}
		r.Values = append(r.Values, at)
	}
	switch n := len(source.Overrides); {
	case source.Plugin:
		r.Away = "a plugin of Argo CD renders it"
	case n > 0:
		r.Note = fmt.Sprintf("the application %s itself sets %d more things, which are not in what is rendered here", live.Name, n)
	}
}

// user is the source that takes values from the one of a name.
func (l *LiveApplication) user(ref string) AppSource {
	for _, s := range l.Sources {
		for _, file := range s.Values {
			if strings.HasPrefix(file, "$"+ref+"/") {
				return s
			}
		}
	}
	return AppSource{}
}

// valuesFile is where a file of values is in the site's repository.
func (s *site) valuesFile(live *LiveApplication, dir, file string) (string, bool) {
	if strings.Contains(file, "://") {
		return "", false
	}
	if rest, ok := strings.CutPrefix(file, "$"); ok {
		ref, at, _ := strings.Cut(rest, "/")
		for _, other := range live.Sources {
			if other.Ref == ref {
				return strings.TrimPrefix(path.Clean("/"+at), "/"), sameRepository(other.Repository, s.at.Repository)
			}
		}
		return "", false
	}
	if strings.HasPrefix(file, "/") { // Argo CD takes it from the repository's root
		dir = ""
	}
	return strings.TrimPrefix(path.Clean("/"+path.Join(dir, file)), "/"), true
}
