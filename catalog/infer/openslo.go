package infer

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// OpenObject is an OpenSLO object that others name: a Service, SLI, DataSource,
// AlertPolicy or AlertCondition. Fields are set as its kind has them.
type OpenObject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Title is what people call it, or what the file says of it.
	Title string `json:"title,omitempty"`
	// Of is the kind of a data source, or the data source of an SLI.
	Of       string `json:"of,omitempty"`
	Severity string `json:"severity,omitempty"`
	Runbook  string `json:"runbook,omitempty"`
	// Conditions are the names of a policy's conditions.
	Conditions []string `json:"conditions,omitempty"`
	// Measure is that of an SLI.
	Measure Measure `json:"measure,omitzero"`
	Place
}

// isOpenSLO tells whether an object's group is that of OpenSLO.
func isOpenSLO(group string) bool { return group == "openslo" || group == "openslo.com" }

// openSLO reads an object of openslo/v1alpha, v1beta1, v1 or openslo.com/v2.
func (r *Reading) openSLO(path, kind string, root *yaml.Node) {
	switch kind {
	case "SLO":
		r.openObjectives(path, root)
	case "Service", "SLI", "DataSource", "AlertPolicy", "AlertCondition":
		r.openObject(path, kind, root)
	}
}

// openObject notes an object by its name, and what is written out in it.
func (r *Reading) openObject(path, kind string, root *yaml.Node) string {
	spec := child(root, "spec")
	o := OpenObject{Kind: kind, Name: scalar(root, "metadata", "name"), Title: openTitle(root), Place: Place{path, root.Line}}
	switch kind {
	case "SLI":
		o.Of, o.Measure = r.openSource(path, spec), openMeasure(spec)
	case "DataSource":
		o.Of = scalar(spec, "type")
	case "AlertCondition":
		o.Severity = scalar(spec, "severity")
	case "AlertPolicy":
		o.Conditions = r.openRefs(path, "AlertCondition", child(spec, "conditions"))
		for _, key := range []string{"runbook_url", "runbook", "runbookUrl", "runbook-url"} {
			o.Runbook = cmp.Or(o.Runbook, scalar(root, "metadata", "annotations", key))
		}
	}
	if o.Name == "" || len(r.Objects) >= maxFindings {
		return ""
	}
	r.Objects = append(r.Objects, o)
	return o.Name
}

func openTitle(root *yaml.Node) string {
	return oneLine(cmp.Or(scalar(root, "metadata", "displayName"), scalar(root, "spec", "description")))
}

// openRefs are the names of the objects in a list, each named or written out.
func (r *Reading) openRefs(path, kind string, list *yaml.Node) []string {
	var out []string
	for _, it := range items(list) {
		if len(out) == maxSame {
			break
		}
		name := ""
		switch {
		case it == nil:
		case it.Kind == yaml.ScalarNode:
			name = it.Value
		case child(it, "spec") != nil:
			name = r.openObject(path, kind, it)
		default:
			for k, v := range pairs(it) {
				if strings.HasSuffix(k.Value, "Ref") && v != nil && v.Kind == yaml.ScalarNode {
					name = v.Value
				}
			}
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// openSource is the data source of an SLI: the one that it names, else the
// kind of the one that is written out, of whichever of its metrics comes first.
func (r *Reading) openSource(path string, spec *yaml.Node) string {
	source := firstNode(at(spec, "thresholdMetric", "metricSource"), at(spec, "ratioMetric", "total", "metricSource"),
		at(spec, "ratioMetric", "good", "metricSource"), at(spec, "ratioMetric", "bad", "metricSource"), at(spec, "ratioMetric", "raw", "metricSource"))
	if inline := child(source, "dataSource"); inline != nil {
		return r.openObject(path, "DataSource", inline)
	}
	return cmp.Or(scalar(source, "metricSourceRef"), scalar(source, "dataSourceRef"), scalar(source, "type"))
}

// openObjectives reads an SLO. Each objective of one is an objective of its
// own.
func (r *Reading) openObjectives(path string, root *yaml.Node) {
	spec := child(root, "spec")
	slo := SLO{Name: scalar(root, "metadata", "name"), Title: openTitle(root), Service: cmp.Or(scalar(spec, "service"), scalar(spec, "serviceRef")), Window: openWindow(spec), Format: "openslo",
		Indicator: cmp.Or(scalar(spec, "indicatorRef"), scalar(spec, "sliRef")), Policies: r.openRefs(path, "AlertPolicy", child(spec, "alertPolicies"))}
	for _, key := range []string{"indicator", "sli"} {
		if inline := child(spec, key); child(inline, "spec") != nil {
			slo.Indicator, slo.Measure = r.openObject(path, "SLI", inline), openMeasure(child(inline, "spec"))
		}
	}
	all := items(child(spec, "objectives"))
	for i, o := range all {
		percent, ok := number(o, "targetPercent")
		if !ok {
			if percent, ok = number(o, "target"); !ok {
				continue
			}
			percent = rounded(percent * 100)
		}
		s := slo
		s.Objective, s.Place = percent, Place{path, o.Line}
		s.Indicator = cmp.Or(scalar(o, "indicatorRef"), scalar(o, "sliRef"), s.Indicator)
		if len(all) > 1 {
			s.Name += "/" + strconv.Itoa(i+1)
			s.Title = cmp.Or(scalar(o, "displayName"), s.Title)
		}
		r.slo(s)
	}
}

func openWindow(spec *yaml.Node) string {
	for _, key := range []string{"timeWindow", "timeWindows"} {
		for _, w := range items(child(spec, key)) {
			if d := scalar(w, "duration"); d != "" {
				return d
			}
			count, unit := scalar(w, "count"), strings.ToLower(scalar(w, "unit"))
			if count != "" && unit != "" {
				if short, ok := map[string]string{"day": "d", "week": "w", "month": "M", "hour": "h", "quarter": "Q", "year": "Y"}[unit]; ok {
					return count + short
				}
				return count + " " + unit
			}
		}
	}
	return ""
}

// openObjects are the OpenSLO objects of a repository by kind and name.
type openObjects map[[2]string][]OpenObject

// find gives the object of a name that is nearest to a file: in it, in a folder
// as near as can be, the first by path of several.
func (all openObjects) find(kind, name, from string) (OpenObject, bool) {
	found := all[[2]string{kind, name}]
	if name == "" || len(found) == 0 {
		return OpenObject{}, false
	}
	return slices.MinFunc(found, func(a, b OpenObject) int { return cmp.Compare(apart(a.Path, from), apart(b.Path, from)) }), true
}

// apart is how many folders lie between two files, -1 for one and the same.
func apart(a, b string) int {
	if a == b {
		return -1
	}
	left, right := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	same := 0
	for same < min(len(left), len(right)) && left[same] == right[same] {
		same++
	}
	return len(left) + len(right) - 2*same
}

// reliability gathers the objectives and alerts of all files, and puts in what
// OpenSLO objects in other documents and files say of them.
func (r *Repository) reliability() {
	all := openObjects{}
	for _, at := range r.sorted {
		for _, o := range r.readings[at].Objects {
			all[[2]string{o.Kind, o.Name}] = append(all[[2]string{o.Kind, o.Name}], o)
		}
	}
	told := map[[2]string]bool{}
	for _, at := range r.sorted {
		r.alerts = append(r.alerts, r.readings[at].Alerts...)
		for _, s := range r.readings[at].SLOs {
			if s.Format == "openslo" {
				s = all.resolved(s)
				r.alerts = append(r.alerts, all.alerts(s, told)...)
			}
			r.slos = append(r.slos, s)
		}
	}
}

// resolved puts into an objective what other objects say.
func (all openObjects) resolved(s SLO) SLO {
	if service, ok := all.find("Service", s.Service, s.Path); ok && !strings.EqualFold(service.Title, s.Service) {
		s.Alias = service.Title
	}
	sli, ok := all.find("SLI", s.Indicator, s.Path)
	if !ok {
		return s
	}
	s.Indicator = cmp.Or(sli.Title, sli.Name)
	s.Title = cmp.Or(s.Title, sli.Title)
	s.Measure = cmp.Or(sli.Measure, s.Measure)
	if source, ok := all.find("DataSource", sli.Of, sli.Path); ok {
		s.DataSource = cmp.Or(source.Title, source.Name)
		if source.Of != "" && !strings.EqualFold(source.Of, s.DataSource) {
			s.DataSource += " (" + source.Of + ")"
		}
	}
	return s
}

// alerts are those of an objective's policies, each told once for a service.
func (all openObjects) alerts(s SLO, told map[[2]string]bool) []Alert {
	var out []Alert
	for _, name := range s.Policies {
		policy, ok := all.find("AlertPolicy", name, s.Path)
		key := [2]string{name + "\x00" + policy.Path, s.Service}
		if !ok || told[key] {
			continue
		}
		told[key] = true
		a := Alert{Name: policy.Name, Service: s.Service, Alias: s.Alias, Summary: policy.Title, Runbook: policy.Runbook, Place: policy.Place}
		for _, c := range policy.Conditions {
			condition, _ := all.find("AlertCondition", c, policy.Path)
			a.Severity = cmp.Or(a.Severity, condition.Severity)
		}
		out = append(out, a)
	}
	return out
}
