package knowledgetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
)

// writer writes the documents of one service.
type writer struct {
	*Corpus
	rng *rand.Rand
	service
	// These draw places in lists, small ones far more often than large ones.
	jargonAt, techAt, serviceAt *rand.Zipf
}

func (c *Corpus) writer(seed uint64, s service) *writer {
	rng := rand.New(rand.NewPCG(11, seed))                                            //nolint:gosec // made-up data, the same each time
	zipf := func(n int) *rand.Zipf { return rand.NewZipf(rng, 1.15, 3, uint64(n-1)) } //nolint:gosec // a length
	return &writer{Corpus: c, rng: rng, service: s, jargonAt: zipf(len(c.jargon)), techAt: zipf(len(techs)), serviceAt: zipf(len(c.services))}
}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

// madeUp is a word that no other text has.
func madeUp(rng *rand.Rand) string {
	var b strings.Builder
	for range 2 + rng.IntN(3) {
		b.WriteString(pick(rng, syllables))
	}
	b.WriteString(pick(rng, endings))
	return b.String()
}

// sentence fills in a sentence's blanks.
func (w *writer) sentence(pattern string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		var name string
		name, pattern, _ = strings.Cut(rest, "}")
		word := w.blank(strings.ToLower(name))
		if unicode.IsUpper(rune(name[0])) {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
}

func (w *writer) blank(name string) string {
	switch name {
	case "svc":
		return w.name
	case "dep":
		return w.services[w.serviceAt.Uint64()].name
	case "team":
		return w.team
	case "tech":
		return techs[w.techAt.Uint64()]
	case "thing":
		return pick(w.rng, nouns)
	case "topic":
		return pick(w.rng, topics)
	case "rare":
		return w.jargon[w.jargonAt.Uint64()]
	case "key":
		return strings.ToUpper(techs[w.techAt.Uint64()] + "_" + pick(w.rng, nouns) + "_" + pick(w.rng, settings))
	case "code":
		return fmt.Sprintf("E%04d", w.rng.IntN(9000))
	case "env":
		return pick(w.rng, environments)
	default:
		return fmt.Sprint(1 + w.rng.IntN(90))
	}
}

// paragraph is a few sentences, now and then with a command.
func (w *writer) paragraph(b *strings.Builder) {
	for range 2 + w.rng.IntN(4) {
		b.WriteString(w.sentence(pick(w.rng, sentences)))
		b.WriteByte(' ')
	}
	b.WriteString("\n\n")
	if w.rng.IntN(4) == 0 {
		fmt.Fprintf(b, "```\n%s\n```\n\n", w.sentence(pick(w.rng, commands)))
	}
}

// page is a title and headings, each with up to so many paragraphs.
func (w *writer) page(title string, paragraphs int, headings ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", title)
	w.paragraph(&b)
	for _, h := range headings {
		fmt.Fprintf(&b, "## %s\n\n", h)
		for range 1 + w.rng.IntN(paragraphs) {
			w.paragraph(&b)
		}
	}
	return b.String()
}

func (w *writer) runbook(alert string) string {
	front := w.sentence("---\nowner: group:default/{team}\nlastVerified: 2026-0") + fmt.Sprintf("%d-11\nenvironment: production\n---\n", 1+w.rng.IntN(9))
	return front + w.page(alert, 2, "Meaning", "Impact", "Diagnosis", "Mitigation")
}

func (w *writer) decision() string {
	status := pick(w.rng, strings.Fields("accepted accepted accepted proposed superseded"))
	return "---\nstatus: " + status + "\n---\n" + w.page(w.sentence("Use {tech} for {thing}"), 3, "Context", "Decision", "Consequences")
}

func (w *writer) answer() string {
	return w.sentence("---\nquestion: ") + w.sentence(pick(w.rng, questions)) + w.sentence("\nappliesTo: [{svc}]\nowner: {team}\nlastVerified: 2026-06-01\n---\n") + w.page("Answer", 2, "Steps", "Checks")
}

// The words that texts are made of.
var (
	syllables    = strings.Fields("ba bel cor dan dri el fen gra hol im ja kel lo mar nim o pra qui ras sel tor ul ven wim xa yor zen sti plu cra dro fli gno")
	endings      = strings.Fields("n r s t l m d k x")
	environments = strings.Fields("production production production staging sandbox")
	settings     = strings.Fields("TIMEOUT LIMIT URL POOL RETRIES SIZE MODE")
)

var nouns = strings.Fields("account address badge basket booking budget carrier claim contract credit customer delivery device document exchange feed forecast gift hotel identity invoice journey label ledger letter market meter notice order parcel passenger payment permit photo policy price profile quote receipt refund report request review route seat sensor shipment signal stock survey tariff ticket trip vehicle voucher wallet warehouse")

var parts = strings.Fields("api app batch broker console engine gateway importer keeper planner portal reader relay server store syncer worker writer")

var topics = strings.Fields("caching sharding retention migration replication throttling sampling logging tracing alerting authentication authorization encryption pagination idempotency retries timeouts batching backfill failover provisioning onboarding testing releases branching reviews incidents postmortems quotas compression")

var techs = strings.Fields("postgres kafka redis kubernetes grafana prometheus terraform docker grpc envoy elasticsearch rabbitmq vault nginx mysql cassandra argocd helm istio clickhouse mongodb consul etcd memcached nats spark airflow flink dynamodb snowflake bigquery keycloak pgbouncer zookeeper temporal celery sidekiq haproxy fluentbit loki tempo jaeger opensearch minio cockroach timescale debezium avro protobuf thrift varnish squid traefik knative keda velero cilium calico linkerd patroni vitess trino presto druid pinot pulsar")

var conditions = strings.Fields("LatencyHigh ErrorRateHigh QueueBacklog DiskFull MemoryPressure CertificateExpiring ReplicationLag CrashLooping SaturationHigh ConsumerLag ConnectionsExhausted BudgetBurning")

var commands = strings.Split("kubectl rollout restart deployment/{svc}|kubectl -n {env} logs deploy/{svc} --since={num}m|make test|make build deploy-{env}|psql -c 'select count(*) from {thing}'|{tech}-cli --host {dep} info|curl -fsS https://{svc}.corp.test/healthz|terraform apply -target={rare}", "|")

var questions = strings.Split("How do I rotate the {thing} key?|Why does the {thing} import stop with {code}?|How is a {thing} restored from a backup?|Where is {key} set?|How do I replay {tech} messages of {dep}?|What does {rare} mean?|How do I run the tests of one package?|How do I get access to {tech}?", "|")

// sentences are what the texts are made of: plain ones that any document may
// hold, and such with names, settings and words that few others have.
var sentences = strings.Split(`The service reads each {thing} once and writes the result to {tech}.|If the error rate rises after a deploy, roll back first and look for the cause later.|Every request carries the id of the {thing} and is logged with it.|Ask {team} before you change this in {env}.|{key} is {num} by default; higher values need more memory.|When {dep} is slow, requests wait in the queue until the timeout of {num} seconds.|The database holds about {num} million rows of {thing} data, and grows each month.|Check the dashboard of {svc} for latency, errors and saturation.|A {thing} without a {thing} is refused with {code}.|Deploys run from the main branch, first to staging, then to production.|We keep {topic} simple: one worker, one queue, no locks.|The {tech} cluster has {num} nodes, and is shared with {dep}.|The job runs every {num} minutes and may be started by hand.|To see what happened, search the logs for the {thing} id and the time of the request.|Restart the pods one after the other and wait until the health check is green.|The name {rare} stands for the older way to handle a {thing}.|{Rare} and {rare} are the two modes of {topic}.|In {env} the limit is {num} requests per second for each customer.|Configuration comes from the environment; secrets are mounted as files.|The team on call is paged when the alert fires for more than {num} minutes.|All changes to the schema go through a migration that can be undone.|Tests need a running {tech}; the make target starts one.|Data older than {num} days is moved to cold storage.|Errors of the kind {code} come from {dep} and can be retried.|Users see an error page while this lasts, and new orders are lost.|Scale the deployment to {num} replicas if the queue keeps growing.|Each event has a version, and consumers must accept the version before.|The cache in {tech} is filled on first use, and emptied when a {thing} changes.|This was decided after the incident with {rare}, when the {thing} data was wrong for {num} hours.|The API returns a page of {num} results and a cursor for the next one.|Open a pull request with the new value and let {team} approve it.|Do not run this command in production without a second person.|The certificate is renewed by a job; if it fails, do it by hand with {rare}.|Metrics are sent to {tech} with the labels {rare} and {thing}.|A failed message goes to the dead letter queue, from where it can be replayed.|First find out whether all users or only some are affected.|The connection pool of {tech} is limited to {num}, so long queries block others.|See also the page of {dep} about {topic}.|Access is granted for a day by the team that owns the system.|Backups are taken every night and tested once a month.|If nothing helps, fail over to the other region and tell the incident channel.|The build takes {num} minutes, most of it for the tests.`, "|")
