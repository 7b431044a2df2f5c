package check

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// The parts of SARIF 2.1.0 that are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool           `json:"tool"`
		Bases      map[string]sarifURI `json:"originalUriBaseIds,omitempty"`
		ColumnKind string              `json:"columnKind"`
		Results    []sarifResult       `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifURI struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifResult struct {
		RuleID     string            `json:"ruleId"`
		RuleIndex  int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Related    []sarifLocation   `json:"relatedLocations,omitempty"`
		Baseline   string            `json:"baselineState,omitempty"`
		Properties map[string]string `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Message  *sarifText     `json:"message,omitempty"`
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifURI     `json:"artifactLocation"`
		Region   *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine   uint32 `json:"startLine"`
		StartColumn uint32 `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullName string `json:"fullyQualifiedName"`
		Kind     string `json:"kind"`
	}
)

// ruleText says what each class of problem means.
func ruleText(name string) string {
	switch name {
	case "InputError":
		return "The file does not say what a catalog file must say."
	case "NotFoundError":
		return "The file names something that is not there."
	case "NotAllowedError":
		return "The file describes a kind of entity that is not let in."
	case "ConflictError":
		return "An entity is described more than once."
	case brokenRelation:
		return "An entity names another that the change removes."
	case "DeclarationError":
		return "What the file says for Fairlead cannot be used."
	default:
		return "The file cannot be read as a catalog file."
	}
}

// SARIF gives a report in SARIF 2.1.0, for code scanning. Files are relative
// to their repository; where there are several, each run is about one.
func (r *Report) SARIF(version string) ([]byte, error) {
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{}}
	var roots []string
	for i := range r.Findings {
		roots = append(roots, r.Findings[i].root)
	}
	slices.Sort(roots)
	for _, root := range slices.Compact(roots) {
		log.Runs = append(log.Runs, r.run(root, version))
	}
	if len(log.Runs) == 0 {
		log.Runs = append(log.Runs, r.run("", version))
	}
	return json.Marshal(log)
}

func (r *Report) run(root, version string) sarifRun {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}, Tool: sarifTool{sarifDriver{
		Name: "fairlead", Version: version, InformationURI: "https://github.com/fairlead-dev/fairlead", Rules: []sarifRule{},
	}}}
	if root != "" {
		base := url.URL{Scheme: "file", Path: strings.TrimSuffix("/"+strings.TrimPrefix(filepath.ToSlash(root), "/"), "/") + "/"}
		run.Bases = map[string]sarifURI{"%SRCROOT%": {URI: base.String()}}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.root == root {
			run.Results = append(run.Results, f.result(&run.Tool.Driver))
		}
	}
	return run
}

func (f *Finding) result(d *sarifDriver) sarifResult {
	id := cmp.Or(f.Name, "Error")
	rule := slices.IndexFunc(d.Rules, func(r sarifRule) bool { return r.ID == id })
	if rule < 0 {
		rule = len(d.Rules)
		d.Rules = append(d.Rules, sarifRule{ID: id, Short: sarifText{ruleText(id)}})
	}
	text := f.Message
	if f.Fix != "" {
		text = strings.TrimSuffix(text, ".") + ". " + f.Fix
	}
	loc := sarifAt(f.path, f.Line, f.Column)
	if f.Ref != "" {
		loc.Logical = []sarifLogical{{FullName: f.Ref, Kind: "resource"}}
	}
	out := sarifResult{RuleID: id, RuleIndex: rule, Level: "error", Message: sarifText{text}, Locations: []sarifLocation{loc}, Baseline: f.baseline}
	if f.Severity == entity.SeverityWarning {
		out.Level = "warning"
	}
	if f.Owner != "" {
		out.Properties = map[string]string{"owner": f.Owner}
	}
	if r := f.related; r != nil {
		at := sarifAt(r.path, r.line, 0)
		at.Message = &sarifText{r.text}
		out.Related = []sarifLocation{at}
	}
	return out
}

func sarifAt(path string, line, column uint32) sarifLocation {
	loc := sarifLocation{Physical: sarifPhysical{Artifact: sarifURI{URI: (&url.URL{Path: path}).EscapedPath(), Base: "%SRCROOT%"}}}
	if line > 0 {
		loc.Physical.Region = &sarifRegion{line, column}
	}
	return loc
}
