package edit

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: checkout
  annotations:
    note: "café — 東京 🎉" # é
spec:
  replicas: 2
  template:
    spec:
      initContainers:
        - image: docker.io/library/nginx:1.26 # same
          name: warm
      containers:
      - name: app
        image: 'ghcr.io/acme/checkout:1.2.3@` + digestA + `'
        env:
          - {name: LOG, value: info}
          - name: RATE
            value: "5"
        resources:
          limits: {cpu: 500m, memory: 1Gi}
      - name: side
        image: nginx:1.26-alpine
      - {name: last, image: nginx}
`

const application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: checkout}
spec:
  source:
    repoURL: https://git.example.com/deploy.git
    targetRevision: HEAD
    helm:
      parameters:
      - name: image.repository
        value: ghcr.io/acme/checkout
      - name: image.tag
        value: "1.2"
      - {name: replicaCount, value: "2"}
      valuesObject:
        worker:
          image:
            repository: ghcr.io/acme/worker
            tag: v1
  sources:
    - kustomize:
        images:
          - ghcr.io/acme/ledger:1.0
          - web=ghcr.io/acme/web:2.0
`

func hardCases() []editCase {
	d := func(name, do string, replace ...string) editCase {
		return editCase{name: "manifest: " + name, file: "d.yaml", in: deployment, do: do, replace: replace}
	}
	a := func(name, do string, replace ...string) editCase {
		return editCase{name: "application: " + name, file: "app.yaml", in: application, do: do, replace: replace}
	}
	no := func(name, in, do, refused string) editCase {
		return editCase{name: "refused: " + name, file: "f.yaml", in: in, do: do, refused: refused}
	}
	return []editCase{
		d("image in all its places", "image nginx=1.27", "nginx:1.26 #", "nginx:1.27 #", "nginx:1.26-alpine", "nginx:1.27", "image: nginx}", "image: nginx:1.27}"),
		d("a tag takes the digest away", "image ghcr.io/acme/checkout=1.3", "1.2.3@"+digestA, "1.3"),
		d("tag and digest", "image acme/checkout=1.3@"+digestB, "1.2.3@"+digestA, "1.3@"+digestB),
		d("replicas", "replicas 3", "replicas: 2", "replicas: 3"),
		d("environment", "set spec.template.spec.containers[name=app].env[name=LOG].value=debug", "value: info", "value: debug"),
		d("environment is text", "set spec.template.spec.containers[0].env[1].value=7", `"5"`, `"7"`),
		d("more environment", "set spec.template.spec.containers[name=app].env[name=PORT].value=80", "value: \"5\"\n", "value: \"5\"\n          - name: PORT\n            value: \"80\"\n"),
		d("resources", "set spec.template.spec.containers[name=app].resources.limits.memory=2Gi", "1Gi", "2Gi"),
		d("new resources", "set spec.template.spec.containers[name=side].resources.requests.cpu=100m", "1.26-alpine", "1.26-alpine\n        resources:\n          requests:\n            cpu: 100m"),
		d("annotation", `set metadata.annotations."example.com/n"=1`, "# é", "# é\n    example.com/n: \"1\""),
		d("unicode", "set metadata.annotations.note=naïve", `"café — 東京 🎉"`, `"naïve"`),
		a("parameters", "image ghcr.io/acme/checkout=1.3", `"1.2"`, `"1.3"`),
		a("values", "image ghcr.io/acme/worker=v2", "tag: v1", "tag: v2"),
		a("Kustomize image", "image ghcr.io/acme/ledger=1.1", "ledger:1.0", "ledger:1.1"),
		a("Kustomize image by name", "image web=2.1", "web:2.0", "web:2.1"),
		a("revision", "set spec.source.targetRevision=1.0", "HEAD", `"1.0"`),
		a("replicas", "replicas 3", `"2"`, `"3"`),
		{name: "application set", file: "a.yaml", in: "kind: ApplicationSet\nspec:\n  template:\n    metadata:\n      name: '{{name}}'\n    spec:\n      source:\n        targetRevision: main\n", do: "set spec.template.spec.source.targetRevision=v1.2", replace: []string{"main", "v1.2"}},
		{name: "helm release", file: "a.yaml", in: "kind: HelmRelease\nspec:\n  values:\n    replicaCount: 1\n    image: {repository: a/b, tag: v1}\n", do: "image a/b=v2", replace: []string{"v1", "v2"}},
		{name: "helm release replicas", file: "a.yaml", in: "kind: HelmRelease\nspec:\n  values:\n    replicaCount: 1\n", do: "replicas 2", replace: []string{"1", "2"}},
		{name: "flux kustomization", file: "a.yaml", in: "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec:\n  images:\n    - name: a/b\n      newTag: v1 # {\"$imagepolicy\": \"x\"}\n", do: "image a/b=v2", replace: []string{"v1 #", "v2 #"}},
		{name: "no replicas yet", file: "a.yaml", in: "kind: Deployment\nspec:\n  selector: {}\n", do: "replicas 2", replace: []string{"{}", "{}\n  replicas: 2"}},
		{name: "no spec yet", file: "a.yaml", in: "kind: Deployment\nmetadata: {name: a}\n", do: "replicas 2", replace: []string{"a}", "a}\nspec:\n  replicas: 2"}},
		{name: "document by kind", file: "a.yaml", in: "kind: Service\nspec: {type: A}\n---\n# two\nkind: Deployment\nspec: {type: B}\n", do: "set spec.type=C", document: "Deployment", replace: []string{"type: B", "type: C"}},
		{name: "document by what it has", file: "a.yaml", in: "kind: Service\nspec: {type: A}\n---\nkind: Deployment\nmetadata: {name: x}\nspec: {paused: false}\n", do: "set spec.paused=true", replace: []string{"false", "true"}},
		{name: "anchor that nothing uses", file: "a.yaml", in: "tag: &t v1 # t\nb: c\n", do: "set tag=v2", replace: []string{"v1", "v2"}},
		{name: "anchors elsewhere", file: "a.yaml", in: "x: &x {a: 1}\ny:\n  <<: *x\n  tag: v1\n", do: "set y.tag=v2", replace: []string{"v1", "v2"}},
		{name: "tagged", file: "a.yaml", in: "a: !!str 17\nb: 1\n", do: "set a=18", replace: []string{"17", "\"18\""}},
		{name: "plain over two lines", file: "a.yaml", in: "a: one\n  two\nb: 1\n", do: "set a=three", replace: []string{"one\n  two", "three"}},
		{name: "brackets over lines", file: "a.yaml", in: "a: [\n  {name: x, v: 1}, # c\n  {name: y, v: 2},\n]\n", do: "set a[name=y].v=3", replace: []string{"v: 2", "v: 3"}},
		{name: "item behind a trailing comma", file: "a.yaml", in: "images: [\n  {name: x, newTag: a},\n]\n", do: "set images[name=z].newTag=b", replace: []string{"newTag: a}", "newTag: a},\n  {name: z, newTag: b}"}},
		{name: "explicit key", file: "a.yaml", in: "? a\n: b\nc: d\n", do: "set a=x", replace: []string{": b", ": x"}},
		{name: "wide dashes", file: "a.yaml", in: "a:\n  -   name: x\n      v: 1\n", do: "set a[name=z].v=2", replace: []string{"v: 1", "v: 1\n  -   name: z\n      v: 2"}},
		{name: "first key behind a dash", file: "kustomization.yaml", in: "images:\n- digest: " + digestA + "\n  name: x\n", do: "image x=v1", replace: []string{"digest: " + digestA + "\n  name: x", "name: x\n  newTag: v1"}},
		{name: "values with templates in them", file: "values.yaml", in: "name: '{{ .Release.Name }}'\nimage: {repository: a/b, tag: v1}\n", do: "image a/b=v2", replace: []string{"v1", "v2"}},
		{name: "version", file: "a.yaml", in: "%YAML 1.2 # v\n---\nimage: nginx:1.26\n", do: "image nginx=1.27", replace: []string{"1.26", "1.27"}},
		{name: "aliases elsewhere", file: "a.yaml", in: "x: &i nginx:1.25\na: {image: *i}\nb:\n  image: redis:7   # r\n", do: "image redis=8", replace: []string{"redis:7", "redis:8"}},
		{name: "braces in arguments", file: "a.yaml", in: "kind: Pod\nspec:\n  containers:\n  - name: a\n    image: \"nginx:1.25\"\n    args:\n    - --x={{ y }}\n", do: "image nginx=2", replace: []string{"1.25", "2"}},
		{name: "tabs", file: "a.yaml", in: "a:\t1\t# c\nb: 2\n", do: "set a=3", replace: []string{"1\t", "3\t"}},
		no("template", "image: {{ .Values.image }}\nreplicas: 1\n", "set replicas=2", "f.yaml:"),
		no("template that does not parse", "a: b\n{{- if .x }}\nreplicas: 1\n{{- end }}\n", "set replicas=2", "is a template"),
		no("template by its names", "kind: Deployment\nmetadata:\n  name: \"{{ .Release.Name }}\"\nspec:\n  replicas: 1\n", "replicas 2", "is a template"),
		no("value of a template", "image: {repository: a/b, tag: '{{ .tag }}'}\n", "image a/b=v2", "filled in by a template"),
		no("image of a variable", "image: 'a/b:${TAG}'\n", "image a/b=v2", "filled in by a template or a variable"),
		no("alias", "x: &x v1\ntag: *x\n", "set tag=v2", "an alias of &x"),
		no("anchor that is used", "x: &x v1\ntag: *x\n", "set x=v2", "both would change"),
		no("part of an anchor", "x: &x\n  tag: v1\ny: *x\n", "set x.tag=v2", "both would change"),
		no("through an alias", "x: &x\n  tag: v1\ny: *x\n", "set y.tag=v2", "an alias of &x"),
		no("merged", "x: &x\n  tag: v1\ny:\n  <<: *x\n", "set y.tag=v2", "merges in"),
		no("image of an alias", "x: &x v1\nimage:\n  repository: a/b\n  tag: *x\n", "image a/b=v2", "an alias of &x"),
		no("block", "a: |\n  image: x\nb: 1\n", "set a=x", "block of text"),
		{name: "a block that says so already", file: "f.yaml", in: "a: >-\n  x\n  y\nb: 1\n", do: "set a=x y"},
		no("folded", "a: >-\n  x\nb: 1\n", "set a=y", "block of text"),
		no("twice", "a: 1\na: 2\n", "set a=3", "twice"),
		no("twice above", "a: {b: 1}\na: {c: 2}\n", "set a.b=3", "twice"),
		no("several documents", "kind: A\nx: 1\n---\nkind: B\nx: 2\n", "set x=3", "any of 2 documents"),
		no("several items", "a:\n- name: x\n- name: x\n", "set a[name=x].y=1", "several items"),
		no("two registries", "a: {image: quay.io/a/b:1}\nb: {image: ghcr.io/a/b:1}\n", "image a/b=2", "may be any of"),
		no("several replicas", "kind: Deployment\nspec: {replicas: 1}\n---\nkind: StatefulSet\nspec: {replicas: 1}\n", "replicas 2", "replicas in 2 places"),
		no("not YAML", "a: [1\nb: 2\n", "set b=3", "not YAML"),
		no("tag twice", "image:\n  repository: a/b:1\n  tag: 2\n", "image a/b=3", "names a tag"),
		no("image in a block alone", "spec:\n  values: |\n    image: a/b:1\n", "image a/b=2", ": a/b is named in a block"),
		no("replicas in a block alone", "kind: Application\nspec:\n  source:\n    helm:\n      values: |\n        a: 1\n        replicaCount: 1\n", "replicas 2", ": replicas are named in a block"),
		no("empty", "# nothing\n", "set a=1", "empty"),
		no("zero bytes", "a: 1\x00\n", "set a=1", "not UTF-8"),
		no("Latin-1", "a: caf\xe9\n", "set a=1", "not UTF-8"),
	}
}
