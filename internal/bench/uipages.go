package main

import (
	"net/url"
	"slices"
	"strings"
)

// uiPage is one page that is opened in a tab of its own, and what is to be
// read on it then.
type uiPage struct {
	Name  string   `json:"name"`
	Path  string   `json:"path"`
	Holds []string `json:"holds"`
	Steps []uiStep `json:"steps"`
	Goal  string   `json:"-"`
}

// uiStep is what is done on a page: a text is typed into the field with a
// placeholder, or a link is followed.
type uiStep struct {
	Name  string   `json:"name"`
	Into  string   `json:"into,omitempty"`
	Type  string   `json:"type,omitempty"`
	Link  string   `json:"link,omitempty"`
	Holds []string `json:"holds"`
}

// names are those of the page and its steps.
func (p uiPage) names() []string {
	out := []string{p.Name}
	for _, s := range p.Steps {
		out = append(out, s.Name)
	}
	return out
}

// uiPages are the pages that are measured.
func uiPages(repo *repository) []uiPage {
	one, team := repo.components[0], repo.teams[0]
	all := url.Values{"filters[kind]": {"component"}, "filters[user]": {"all"}}
	services := url.Values{"filters[kind]": {"component"}, "filters[user]": {"all"}, "filters[type]": {"service"}, "filters[owners]": {"group:default/" + team}}
	home := "/catalog/" + one.namespace + "/component/" + one.name
	return []uiPage{
		{Name: "index, what one owns", Path: "/", Holds: []string{"Owned Components (", title(first(repo, team))}, Goal: "1 s", Steps: []uiStep{
			{Name: "search in it, from the last key", Into: "Search", Type: one.name, Holds: []string{"Owned Components (1)", title(one.name)}},
			{Name: "an entity, from the index", Link: home, Holds: []string{"Looks after", title(team)}},
		}},
		{Name: "index, all components", Path: listed(all), Holds: []string{"All Components (", title(first(repo, ""))}, Goal: "1 s"},
		{Name: "index, services of a team", Path: listed(services), Holds: []string{"All service Components ("}, Goal: "1 s"},
		{Name: "an entity", Path: home, Holds: []string{"Looks after", title(team)}, Goal: "0.5 s, of which 20 ms"},
		{Name: "a system", Path: "/catalog/default/system/" + repo.systems[0], Holds: []string{"From one end of", "Has components"}},
		{Name: "a group of a team", Path: "/catalog/default/group/" + team, Holds: []string{"Builds and runs", "Ownership"}},
		{Name: "a group of thousands", Path: "/catalog/default/group/" + crowdName, Holds: []string{"Whoever there is", "Ownership"}},
		{Name: "the API explorer", Path: "/api-docs", Holds: []string{"All APIS ("}},
		{Name: "the graph of an entity", Path: "/catalog-graph?rootEntityRefs%5B%5D=" + url.QueryEscape(one.ref()), Holds: []string{title(one.name)}},
		{Name: "the graph of a group of thousands", Path: "/catalog-graph?rootEntityRefs%5B%5D=" + url.QueryEscape("group:default/"+crowdName), Holds: []string{title(crowdName)}},
	}
}

// listed is the path of the index with filters.
func listed(filters url.Values) string { return "/?" + filters.Encode() }

// first is the first component by name that a team owns; of all without one.
func first(repo *repository, team string) string {
	var names []string
	for i, n := range repo.components {
		if team == "" || repo.teams[i%len(repo.teams)] == team {
			names = append(names, n.name)
		}
	}
	return slices.MinFunc(names, strings.Compare)
}
