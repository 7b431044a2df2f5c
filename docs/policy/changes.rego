# A start for policies on changes that are proposed by propose_change and
# propose_rollback. Each rule stands for itself: remove those that you do not
# want.
package fairlead

# An act looks like this to a policy:
#   input.action, input.operation, input.dryRun, input.now
#   input.caller    subject, agent, groups, roles, system
#   input.resource  ref, kind, type, owners, tags, environment, protected
#   input.entity    the service as the catalog has it
#   input.state     how the environment does now, where an Argo CD tells: verdict,
#                   grounds, revision, slo (name, state, budgetLeft, burn), alerts
#   input.plan      of propose_change: title, reason, evidence, repository, base,
#                   change, paths, diff, and images: each with file, path, name,
#                   registry, repository, from and to (tag, digest); and rendered,
#                   where Kustomize or Helm renders the environment: ok, error,
#                   tool, changed, added and removed (as Kind/name)
#   input.plan      of propose_rollback: the same but change, and rollback: from,
#                   to, observed (that it was healthy), unwell (what is deployed
#                   now), and bases: files elsewhere that stay as they are
forward if input.operation == "propose_change"

# A way back leads to what ran there before, so that it need not be shown again
# that it is good.
changing if forward

changing if input.operation == "propose_rollback"

# Images come from registries that are known.
deny contains {
	"message": sprintf("the image %s comes from a registry that is not allowed", [image.name]),
	"fix": sprintf("Push it to one of %s.", [concat(", ", data.config.registries)]),
} if {
	changing
	some image in input.plan.images
	count(data.config.registries) > 0
	full := sprintf("%s/%s", [image.registry, image.repository])
	every prefix in data.config.registries {
		not startswith(full, prefix)
	}
}

# What runs in a protected environment is pinned by its digest.
require contains {
	"message": sprintf("the image %s is not pinned by a digest, and %s is protected", [image.name, input.resource.environment]),
	"fix": "Give change.image.digest, sha256: and the hash that the registry tells.",
} if {
	forward
	input.resource.protected
	some image in input.plan.images
	image.to.digest == ""
}

# A change to a protected environment shows that it was tried.
require contains {
	"message": sprintf("%s is protected, and nothing shows that the change is good", [input.resource.environment]),
	"fix": "Give evidence: what was tested and where that can be seen, or how the change does in another environment.",
} if {
	forward
	input.resource.protected
	count(input.plan.evidence) == 0
}

# What is to run in a protected environment can be rendered beforehand.
require contains {
	"message": sprintf("the manifests of %s cannot be rendered: %s", [input.resource.environment, input.plan.rendered.error]),
	"fix": "Have what they are made of in the repository, or say in evidence where they were rendered.",
} if {
	changing
	input.resource.protected
	not input.plan.rendered.ok
	not rendered_elsewhere
}

rendered_elsewhere if {
	some e in input.plan.evidence
	contains(e, "rendered")
}

# An older version says why.
require contains {
	"message": sprintf("%s goes back from %s to %s", [image.name, image.from.tag, image.to.tag]),
	"fix": "If that is meant, say in reason that it is a rollback, and of what.",
} if {
	forward
	some image in input.plan.images
	old := trim_prefix(image.from.tag, "v")
	new := trim_prefix(image.to.tag, "v")
	semver.is_valid(old)
	semver.is_valid(new)
	semver.compare(new, old) < 0
	not regex.match(`(?i)roll(s|ed|ing)?[ -]?back|revert|downgrade`, input.plan.reason)
}

# Nothing goes to protected environments while they are frozen, but for the way
# back where something is wrong.
deny contains {
	"message": sprintf("%s is frozen until %s: %s", [input.resource.environment, freeze.until, freeze.why]),
	"fix": "Wait until then, or ask somebody who is exempt.",
} if {
	changing
	input.resource.protected
	some freeze in data.config.freezes
	now := time.parse_rfc3339_ns(input.now)
	now >= time.parse_rfc3339_ns(freeze.from)
	now < time.parse_rfc3339_ns(freeze.until)
	not exempt
}

exempt if input.plan.rollback.unwell

exempt if {
	some role in input.caller.roles
	role in data.config.exempt
}
