package yamldoc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// component is an ordinary catalog file with two documents.
func component(i int) string {
	return fmt.Sprintf(`apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: service-%[1]d
  title: "Service %[1]d"
  description: Takes orders, checks them and passes them on to the warehouse.
  labels:
    example.com/tier: "2"
  annotations:
    github.com/project-slug: example/service-%[1]d
    example.com/dashboard: https://dashboards.example.com/d/%[1]d?orgId=1
  tags: [go, grpc, orders]
  links:
    - url: https://example.com/%[1]d
      title: Runbook # kept by the team
spec:
  type: service
  lifecycle: production
  owner: group:default/team-%[1]d
  system: orders
  providesApis:
    - api-%[1]d
  dependsOn:
    - resource:default/orders-db
    - component:default/billing
---
apiVersion: backstage.io/v1alpha1
kind: API
metadata:
  name: api-%[1]d
spec:
  type: openapi
  lifecycle: production
  owner: team-%[1]d
  definition: |
    openapi: 3.0.0
    info:
      title: Orders
      version: 1.0.0
    paths: {}
`, i)
}

// BenchmarkOrdinary reads small files as catalogs hold them.
func BenchmarkOrdinary(b *testing.B) {
	data := []byte(component(7))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if docs, fatal := Read(data); len(docs) != 2 || fatal != nil {
			b.Fatal(docs, fatal)
		}
	}
}

// BenchmarkLarge reads one file of 5 MB with many documents.
func BenchmarkLarge(b *testing.B) {
	var all bytes.Buffer
	for i := 0; all.Len() < 5<<20; i++ {
		all.WriteString(component(i) + "---\n")
	}
	b.SetBytes(int64(all.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Read(all.Bytes())
	}
}

// BenchmarkFolder reads all files of the folder that YAMLDOC_BENCH names.
func BenchmarkFolder(b *testing.B) {
	root := os.Getenv("YAMLDOC_BENCH")
	if root == "" {
		b.Skip("YAMLDOC_BENCH names no folder")
	}
	var files [][]byte
	total := 0
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		files, total = append(files, data), total+len(data)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, data := range files {
			docs, _ := Read(data)
			n += len(docs)
		}
		b.ReportMetric(float64(n), "documents")
	}
}
