package realtest

import "fmt"

// Web is a Deployment of an image with two Pods, with its Service. It counts
// as failed when it has not become available within ten seconds.
func Web(image string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  progressDeadlineSeconds: 10
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: %q, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`, image)
}

// Pod is a lone Pod of an image.
func Pod(image string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: lone}
spec: {containers: [{name: lone, image: %q}]}
`, image)
}

// ConfigMap is what is there as soon as it is made.
func ConfigMap(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: value}\n", name)
}

// Held is a ConfigMap with a finalizer that nobody removes: once deleted it
// hangs; see Argo.Unfinalize.
func Held(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, finalizers: [%s]}\ndata: {key: value}\n", name, Finalizer)
}

// Finalizer is the finalizer of what Held describes.
const Finalizer = "example.invalid/held"
