package fairlead_test

import data.fairlead

image := {
	"name": "ghcr.io/acme/shop", "registry": "ghcr.io", "repository": "acme/shop",
	"from": {"tag": "v1.4.0", "digest": ""}, "to": {"tag": "v1.5.0", "digest": "sha256:0"},
}

act := {
	"operation": "propose_change", "now": "2026-11-30T12:00:00Z",
	"caller": {"roles": ["developer"]},
	"resource": {"environment": "production", "protected": true},
	"plan": {"reason": "the fix for orders", "evidence": ["tests passed"], "images": [image]},
}

config := {"registries": ["ghcr.io/acme/"], "freezes": [{"from": "2026-12-20T00:00:00Z", "until": "2027-01-02T00:00:00Z", "why": "busy"}], "exempt": ["sre"]}

objections(asked) := {o.message | some o in said} if {
	said := fairlead.deny | fairlead.require with input as asked with data.config as config
}

changed(patches) := json.patch(act, patches)

test_fine if count(objections(act)) == 0

test_other_acts_are_left_alone if count(objections(changed([
	{"op": "replace", "path": "/operation", "value": "propose_answer"},
	{"op": "remove", "path": "/plan/images"},
]))) == 0

test_registry if "the image evil.test/acme/shop comes from a registry that is not allowed" in objections(changed([
	{"op": "replace", "path": "/plan/images/0/registry", "value": "evil.test"},
	{"op": "replace", "path": "/plan/images/0/name", "value": "evil.test/acme/shop"},
]))

test_pinned if "the image ghcr.io/acme/shop is not pinned by a digest, and production is protected" in objections(changed([{"op": "replace", "path": "/plan/images/0/to/digest", "value": ""}]))

unrendered := [{"op": "add", "path": "/plan/rendered", "value": {"ok": false, "error": "it depends on redis"}}]

test_unrendered if "the manifests of production cannot be rendered: it depends on redis" in objections(changed(unrendered))

test_unrendered_where_it_matters_not if count(objections(changed(array.concat(unrendered, [{"op": "replace", "path": "/resource/protected", "value": false}])))) == 0

test_rendered_by_others if count(objections(changed(array.concat(unrendered, [{"op": "replace", "path": "/plan/evidence/0", "value": "rendered in CI"}])))) == 0

test_unpinned_elsewhere if count(objections(changed([
	{"op": "replace", "path": "/plan/images/0/to/digest", "value": ""},
	{"op": "replace", "path": "/resource/protected", "value": false},
]))) == 0

test_evidence if "production is protected, and nothing shows that the change is good" in objections(changed([{"op": "replace", "path": "/plan/evidence", "value": []}]))

test_downgrade if "ghcr.io/acme/shop goes back from v1.4.0 to v1.3.9" in objections(changed([{"op": "replace", "path": "/plan/images/0/to/tag", "value": "v1.3.9"}]))

test_rollback if count(objections(changed([
	{"op": "replace", "path": "/plan/images/0/to/tag", "value": "v1.3.9"},
	{"op": "replace", "path": "/plan/reason", "value": "Roll back: 1.4.0 loses orders"},
]))) == 0

test_frozen if "production is frozen until 2027-01-02T00:00:00Z: busy" in objections(changed([{"op": "replace", "path": "/now", "value": "2026-12-24T00:00:00Z"}]))

test_exempt if count(objections(changed([
	{"op": "replace", "path": "/now", "value": "2026-12-24T00:00:00Z"},
	{"op": "replace", "path": "/caller/roles", "value": ["sre"]},
]))) == 0

way_back := [
	{"op": "replace", "path": "/operation", "value": "propose_rollback"},
	{"op": "replace", "path": "/plan/evidence", "value": []},
	{"op": "replace", "path": "/plan/images/0/to", "value": {"tag": "v1.3.9", "digest": ""}},
	{"op": "add", "path": "/plan/rollback", "value": {"from": "b", "to": "a", "observed": true, "unwell": true}},
]

test_way_back if count(objections(changed(way_back))) == 0

test_way_back_while_frozen if count(objections(changed(array.concat(way_back, [{"op": "replace", "path": "/now", "value": "2026-12-24T00:00:00Z"}])))) == 0

test_way_back_of_what_is_well if "production is frozen until 2027-01-02T00:00:00Z: busy" in objections(changed(array.concat(way_back, [
	{"op": "replace", "path": "/now", "value": "2026-12-24T00:00:00Z"},
	{"op": "replace", "path": "/plan/rollback/unwell", "value": false},
])))

test_way_back_to_another_registry if count(objections(changed(array.concat(way_back, [{"op": "replace", "path": "/plan/images/0/registry", "value": "evil.test"}])))) == 1
