package knowledgetest

import "strings"

// Questions are such as people and agents ask, about what a Corpus of 50,000
// documents holds.
var Questions = lines(`
how do I run the tests of one package
who is paged when checkout is slow and what do they do first
payment api latency high
PaymentApiLatencyHigh
why does the invoice import stop with E4213
how is the ledger restored from a backup
rotate the signing key of the wallet service
connection pool exhausted postgres
pgbouncer transaction pooling
kafka consumer lag keeps growing
replay messages from the dead letter queue
how do I roll back a deploy in production
certificate renewal failed
redis cache eviction after deploy
what is the retention of shipment data
where is the timeout to the customer gateway set
POSTGRES_INVOICE_TIMEOUT
KAFKA_ORDER_RETRIES default
fail over to the other region
disk full on the elasticsearch cluster
database migration that can be undone
idempotency of refund requests
how does pagination work in the ticket api
who owns the voucher importer
decision to use clickhouse for metrics
why did we choose temporal over celery
backfill sensor data
throttling per customer
access to snowflake for a day
scale the worker if the queue keeps growing
error budget burning what to do
health check is not green after restart
blue green releases with argocd
terraform apply only one target
postmortem of the seat booking incident
how are feature flags removed
logs of the policy worker in staging
tracing with jaeger sampling rate
secrets mounted as files vault
onboarding of a new team
cold storage for old documents
grpc deadline exceeded between services
circuit breaker towards the carrier api
schema registry avro compatibility
how often does the forecast batch run
market feed gateway architecture
data model of the passenger store
memory pressure in the photo syncer
BudgetBurning runbook hotel
crash looping after configuration change
replication lag mysql replica
what does the survey relay depend on
debezium connector restart
encryption at rest for identity documents
quota of the report console
linkerd retries and timeouts
build takes too long
second person for production commands
on-call handover review
backups are tested once a month
`)

// WorstQuestions are those that cost the most: of words that very many
// documents have, of beginnings of words, and of signs.
var WorstQuestions = lines(`
service request data error
the service deploys the data of each customer
service deploy production error request data customer message
queue requests seconds limit team value database cluster
a
e
what is it
service
pro
con
data ser
"service" AND "data" OR NOT "error"
"each request carries the id" NEAR(service deploy, 3) title:error*
and or not the of in to by on a an is are was were
production staging sandbox production-ready run default minutes number worker queue version cache page result
`)

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }
