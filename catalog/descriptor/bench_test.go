package descriptor

import (
	"context"
	"testing"
)

const typical = `apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: checkout-service
  title: Checkout
  description: Takes baskets and turns them into orders.
  labels:
    tier: "1"
  annotations:
    github.com/project-slug: acme/checkout
    backstage.io/techdocs-ref: dir:.
    argocd/app-name: checkout
  tags: [go, grpc, payments]
  links:
    - url: https://grafana.acme.test/d/checkout
      title: Dashboard
      icon: dashboard
spec:
  type: service
  lifecycle: production
  owner: team-checkout
  system: shop
  providesApis: [checkout-api]
  consumesApis: [stock-api, payment-api]
  dependsOn: [resource:default/orders-db, component:mailer]
`

// BenchmarkDocument reads and processes one ordinary document.
func BenchmarkDocument(b *testing.B) {
	p := New(Options{})
	at := Location{TypeURL, "https://github.com/acme/checkout/tree/main/catalog-info.yaml"}
	data := []byte(typical)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f := p.Read(at, data)
		if res := p.Process(context.Background(), f, f.Documents[0], at, nil); !res.OK {
			b.Fatal(res.Problems)
		}
	}
}

// BenchmarkProcess processes one ordinary document that has been read.
func BenchmarkProcess(b *testing.B) {
	p := New(Options{})
	at := Location{TypeURL, "https://github.com/acme/checkout/tree/main/catalog-info.yaml"}
	f := p.Read(at, []byte(typical))
	b.ReportAllocs()
	for b.Loop() {
		if res := p.Process(context.Background(), f, f.Documents[0], at, nil); !res.OK {
			b.Fatal(res.Problems)
		}
	}
}
