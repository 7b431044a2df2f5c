package edit

const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - base   # the base

images:
  - name: checkout          # by the pipeline
    newName: ghcr.io/acme/checkout
    newTag: "17"            # keep "17"
  - name: ledger
    newName: ghcr.io/acme/ledger
    digest: ` + digestA + `
  - name: bare
  - {name: flow, newTag: v1}
replicas:
  - name: checkout
    count: 2
`

func kustomizeCases() []editCase {
	k := func(name, do string, replace ...string) editCase {
		return editCase{name: "kustomize: " + name, file: "k/kustomization.yaml", in: kustomization, do: do, replace: replace}
	}
	return []editCase{
		k("tag", "image checkout=18", `"17"            `, `"18"            `),
		k("by new name", "image ghcr.io/acme/checkout=v2", `"17"            `, `"v2"            `),
		k("by new name without its registry", "image acme/checkout=v2", `"17"            `, `"v2"            `),
		k("so already", "image checkout=17"),
		k("tag and digest", "image checkout=18@"+digestB, `"17"            # keep "17"`, `"18"            # keep "17"`+"\n    digest: "+digestB),
		k("digest takes the tag away", "image checkout=@"+digestB, `    newTag: "17"            # keep "17"`+"\n", "    digest: "+digestB+"\n"),
		k("tag takes the digest away", "image ledger=1.20", "digest: "+digestA, `newTag: "1.20"`),
		k("digest", "image ledger=@"+digestB, digestA, digestB),
		k("missing keys", "image bare=0123", "name: bare", "name: bare\n    newTag: \"0123\""),
		k("flow", "image flow=1e3", "newTag: v1}", `newTag: "1e3"}`),
		k("flow, digest added", "image flow=v1@"+digestB, "newTag: v1}", "newTag: v1, digest: "+digestB+"}"),
		k("flow, tag taken away", "image flow=@"+digestB, "newTag: v1}", "digest: "+digestB+"}"),
		k("new entry", "image docker.io/acme/new=yes", "newTag: v1}\n", "newTag: v1}\n  - name: docker.io/acme/new\n    newTag: \"yes\"\n"),
		{name: "kustomize: digest in the tag", file: "kustomization.yaml", in: "images:\n- name: a\n  newTag: v1@" + digestA + "\n", do: "image a=v2@" + digestB, replace: []string{"v1@" + digestA, "v2@" + digestB}},
		k("replicas", "replicas 3", "count: 2", "count: 3"),
		k("replicas of another", "set replicas[name=ledger].count=4", "count: 2", "count: 2\n  - name: ledger\n    count: 4"),
		k("new name", "set images[name=checkout].newName=ghcr.io/acme/till", "ghcr.io/acme/checkout", "ghcr.io/acme/till"),
		k("new root key", "set namespace=shop", "count: 2\n", "count: 2\nnamespace: shop\n"),
		k("labels are strings", "set commonLabels.version=2", "count: 2\n", "count: 2\ncommonLabels:\n  version: \"2\"\n"),
		{name: "kustomize: no images yet", file: "kustomization.yml", in: "resources:\n- a.yaml\n", do: "image nginx=1.27", replace: []string{"- a.yaml", "- a.yaml\nimages:\n- name: nginx\n  newTag: \"1.27\""}},
		{name: "kustomize: empty list", file: "kustomization.yaml", in: "images: []\nresources: [a]\n", do: "image nginx=1.27", replace: []string{"[]", `[{name: nginx, newTag: "1.27"}]`}},
		{name: "kustomize: nothing behind images", file: "kustomization.yaml", in: "images: # none\nresources:\n    - a\n", do: "image nginx=v1", replace: []string{"# none", "# none\n    - name: nginx\n      newTag: v1"}},
		{name: "kustomize: patches", file: "kustomization.yaml", in: "patches:\n- path: p.yaml\n  target: {kind: Deployment, name: 'a'}\n", do: "set patches[0].target.name=b", replace: []string{"'a'", "'b'"}},
		{name: "kustomize: JSON", file: "kustomization.yaml", in: "{\n  \"images\": [\n    {\n      \"name\": \"a\",\n      \"newTag\": \"1\"\n    }\n  ]\n}\n", do: "image b=2",
			replace: []string{"    }\n", "    },\n    {\"name\": \"b\", \"newTag\": \"2\"}\n"}},
		{name: "kustomize: same image twice", file: "kustomization.yaml", in: "images:\n- name: a\n  newName: ghcr.io/x/app\n  newTag: v1 # one\n- name: b\n  newName: ghcr.io/x/app\n  newTag: v1 # two\n", do: "image ghcr.io/x/app=v2",
			replace: []string{"v1 # one", "v2 # one", "v1 # two", "v2 # two"}},
		{name: "kustomize: key twice", file: "kustomization.yaml", in: "images:\n- name: a\n  newTag: v1\n  newTag: v2\n", do: "image a=v3", refused: "kustomization.yaml:"},
		{name: "kustomize: no replicas", file: "kustomization.yaml", in: "resources: [a]\n", do: "replicas 2", refused: "says nowhere how many"},
		{name: "kustomize: several replicas", file: "kustomization.yaml", in: "replicas:\n- {name: a, count: 1}\n- {name: b, count: 2}\n", do: "replicas 2", refused: "replicas in 2 places: replicas[0].count"},
		{name: "kustomize: a block at the end", file: "kustomization.yaml", in: "patches:\n- patch: |\n    a\n\n    b\n", do: "image nginx=v1", replace: []string{"    b\n", "    b\nimages:\n- name: nginx\n  newTag: v1\n"}},
		{name: "kustomize: a block at the end that keeps its end", file: "kustomization.yaml", in: "patches:\n- patch: |+\n    a\n\n\n", do: "set namespace=x", replace: []string{"\n\n\n", "\n\n\nnamespace: x\n"}},
		{name: "JSON patch", file: "patch.yaml", in: "- op: replace\n  path: /spec/replicas\n  value: 2\n- op: replace\n  path: /spec/template/spec/containers/0/image\n  value: nginx:1.26\n", do: "replicas 5", replace: []string{"value: 2", "value: 5"}},
		{name: "JSON patch of an image", file: "patch.yaml", in: "- op: replace\n  path: /spec/replicas\n  value: 2\n- op: replace\n  path: /spec/template/spec/containers/0/image\n  value: nginx:1.26\n", do: "image nginx=1.27", replace: []string{"1.26", "1.27"}},
	}
}

const valuesText = `# Values
image:
  registry: quay.io
  repository: acme/checkout # by name
  tag: 1.2.3
  pullPolicy: IfNotPresent
postgres:
  image: {repository: postgres, tag: 17, digest: ""}
pinned:
  image:
    repository: rhel9/postgresql-15@sha256
    tag: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
worker:
  image: ghcr.io/acme/worker:4.5
  initImage: 'busybox:1.36'
both:
  image: {repository: ghcr.io/acme/both, tag: 'v1@` + digestA + `'}
untagged:
  image:
    repository: ghcr.io/acme/untagged
empty:
  imageRepository: ghcr.io/acme/empty
  imageTag: ""
nothing:
  image:
    repository: ghcr.io/acme/nothing
    tag:
autoscaling:
  enabled: yes
  ratio: 0.5
  mode: 0644
service: {port: 8080}
resources: {}
replicaCount: 1
`

func valuesCases() []editCase {
	v := func(name, do string, replace ...string) editCase {
		return editCase{name: "values: " + name, file: "values.yaml", in: valuesText, do: do, replace: replace}
	}
	no := func(name, do, refused string) editCase {
		return editCase{name: "values: " + name, file: "values.yaml", in: valuesText, do: do, refused: refused}
	}
	return []editCase{
		v("tag", "image quay.io/acme/checkout=1.20", "tag: 1.2.3", `tag: "1.20"`),
		v("tag without registry", "image acme/checkout=1.2.4", "1.2.3", "1.2.4"),
		v("digest without a field", "image acme/checkout=1.2.4@"+digestB, "1.2.3", "1.2.4@"+digestB),
		v("digest alone without a field", "image acme/checkout=@"+digestB, "1.2.3", "1.2.3@"+digestB),
		v("a number stays one", "image postgres=18", "tag: 17", "tag: 18"),
		v("what is none any more is quoted", "image docker.io/library/postgres=17.10", "tag: 17", `tag: "17.10"`),
		v("digest field", "image postgres=17@"+digestB, `digest: ""`, `digest: "`+digestB+`"`),
		v("digest beside", "image rhel9/postgresql-15=@"+digestB, "tag: "+digestA[7:], "tag: "+digestB[7:]),
		v("digest beside by its name", "image rhel9/postgresql-15@sha256="+digestB[7:], "tag: "+digestA[7:], "tag: "+digestB[7:]),
		v("digest beside unpinned", "image rhel9/postgresql-15=1.0", "15@sha256", "15", "tag: "+digestA[7:], `tag: "1.0"`),
		no("digest beside and no digest", "image rhel9/postgresql-15@sha256=1.0", "named by its sha256 digest"),
		v("one value", "image ghcr.io/acme/worker=5", "worker:4.5", "worker:5"),
		v("other key", "image busybox=1.37@"+digestB, "'busybox:1.36'", "'busybox:1.37@"+digestB+"'"),
		v("tag with digest", "image ghcr.io/acme/both=v2", "v1@"+digestA, "v2"),
		v("missing tag", "image ghcr.io/acme/untagged=1.0", "acme/untagged", "acme/untagged\n    tag: \"1.0\""),
		v("empty tag", "image ghcr.io/acme/empty=2", `imageTag: ""`, `imageTag: "2"`),
		v("no tag behind the colon", "image ghcr.io/acme/nothing=2", "acme/nothing\n    tag:", "acme/nothing\n    tag: \"2\""),
		no("no such image", "image acme/other=2", "has no image acme/other"),
		no("part of a name", "image checkout=2", "has no image checkout"),
		no("another registry", "image ghcr.io/acme/checkout=2", "has no image"),
		v("replicas", "replicas 7", "replicaCount: 1", "replicaCount: 7"),
		v("path", "set image.pullPolicy=Always", "IfNotPresent", "Always"),
		v("number", "set service.port=9090", "8080", "9090"),
		v("number to text", "set service.port=http", "8080", "http"),
		v("number to string", "set-string service.port=9090", "8080", `"9090"`),
		v("number to a string that looks like one", "set service.port=1_000", "8080", `"1_000"`),
		v("fraction", "set autoscaling.ratio=0.75", "0.5", "0.75"),
		v("fraction to version", "set autoscaling.ratio=0.50", "0.5", `"0.50"`),
		v("octal stays octal", "set autoscaling.mode=0600", "0644", "0600"),
		v("boolean of YAML 1.1", "set autoscaling.enabled=no", "enabled: yes", "enabled: no"),
		v("new key", "set autoscaling.max=5", "mode: 0644", "mode: 0644\n  max: 5"),
		v("new text", "set autoscaling.note=on", "mode: 0644", "mode: 0644\n  note: \"on\""),
		v("new tag is text", "set autoscaling.imageTag=2", "mode: 0644", "mode: 0644\n  imageTag: \"2\""),
		v("into empty brackets", "set resources.limits.cpu=2", "resources: {}", "resources: {limits: {cpu: 2}}"),
		v("into brackets", "set service.type=NodePort", "port: 8080", "port: 8080, type: NodePort"),
		v("new mappings", "set ingress.tls.enabled=true", "replicaCount: 1\n", "replicaCount: 1\ningress:\n  tls:\n    enabled: true\n"),
		v("new with dots", `set ingress."a.b/c"=x`, "replicaCount: 1\n", "replicaCount: 1\ningress:\n  a.b/c: x\n"),
		v("text that needs quotes", "set image.pullPolicy=a: b # c", "IfNotPresent", `"a: b # c"`),
		v("quotes in quotes", "set worker.initImage=it's", "'busybox:1.36'", "'it''s'"),
		v("lines", "set image.pullPolicy=a\nb\tc\u0001", "IfNotPresent", `"a\nb\tc\u0001"`),
		v("nothing", "set image.pullPolicy=", "IfNotPresent", `""`),
		no("not one value", "set image=x", "holds several values"),
		no("below a value", "set image.tag.x=1", "there is no x below image.tag"),
		no("no such item", "set worker[0].x=1", "there is no [0]"),
	}
}
