package realtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// What the kubelet of ours makes of a container's image: one whose name
// contains a word does not run as it should, others run at once. Nothing is
// pulled and nothing runs.
const (
	// ImageMissing cannot be pulled: its Pods wait, ImagePullBackOff.
	ImageMissing = "missing"
	// ImageCrashes ends as soon as it has started: CrashLoopBackOff.
	ImageCrashes = "crashes"
	// ImageNeverReady runs and never becomes ready.
	ImageNeverReady = "neverready"
)

const nodeName = "node-0"

// kubelet plays the scheduler and the kubelet of one node, and what gives
// Ingresses and load balancers an address: with it Deployments become
// available, Jobs complete, and what is deleted goes.
type kubelet struct {
	api *api
}

// run works until the context ends, also over times without an API server.
func (k *kubelet) run(ctx context.Context) {
	go k.follow(ctx, "/api/v1/pods", k.pod)
	go k.follow(ctx, "/api/v1/services", k.service)
	k.follow(ctx, "/apis/networking.k8s.io/v1/ingresses", k.address)
}

// node makes the node that Pods are bound to, and says where its kubelet is.
func (k *kubelet) node(ctx context.Context, port int) error {
	size := map[string]string{"cpu": "64", "memory": "256Gi", "pods": "1000"}
	now := time.Now().UTC().Format(time.RFC3339)
	node := map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": nodeName},
		"status": map[string]any{"capacity": size, "allocatable": size,
			"addresses":       []any{map[string]string{"type": "InternalIP", "address": "127.0.0.1"}},
			"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]int{"Port": port}},
			"conditions": []any{map[string]string{"type": "Ready", "status": "True", "reason": "KubeletReady",
				"lastHeartbeatTime": now, "lastTransitionTime": now}}}}
	if _, err := k.api.json(ctx, http.MethodPost, "/api/v1/nodes", jsonType, node, nil); err != nil {
		return err
	}
	_, err := k.api.json(ctx, http.MethodPatch, "/api/v1/nodes/"+nodeName+"/status", mergeType, node, nil)
	return err
}

// follow has each object of a path seen, as it is and whenever it changes.
// What goes wrong is tried again with all of them.
func (k *kubelet) follow(ctx context.Context, path string, see func(context.Context, kubeObject) error) {
	for {
		_ = k.watch(ctx, path, see) // the API server may be away, or somebody was faster
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (k *kubelet) watch(ctx context.Context, path string, see func(context.Context, kubeObject) error) error {
	var all struct {
		Metadata struct{ ResourceVersion string }
		Items    []kubeObject
	}
	if _, err := k.api.json(ctx, http.MethodGet, path, jsonType, nil, &all); err != nil {
		return err
	}
	for _, o := range all.Items {
		if err := see(ctx, o); err != nil {
			return err
		}
	}
	resp, err := k.api.open(ctx, http.MethodGet, path+"?watch=1&resourceVersion="+all.Metadata.ResourceVersion, jsonType, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for changes := json.NewDecoder(resp.Body); ; {
		var change struct {
			Type   string
			Object kubeObject
		}
		if err := changes.Decode(&change); err != nil {
			return err
		}
		switch change.Type {
		case "ADDED", "MODIFIED":
			if err := see(ctx, change.Object); err != nil {
				return err
			}
		case "ERROR":
			return errors.New("the watch is too old")
		}
	}
}

// kubeObject is what the kubelet reads of Pods, Services and Ingresses.
type kubeObject struct {
	Metadata struct {
		Namespace, Name, UID string
		DeletionTimestamp    string
	}
	Spec struct {
		NodeName, RestartPolicy string
		Type                    string
		Containers              []struct{ Name, Image string }
	}
	Status struct {
		Phase             string
		ContainerStatuses []struct{ Name string }
		LoadBalancer      struct{ Ingress []any }
	}
}

// path is where an object of a kind of the core is.
func (o *kubeObject) path(kind string) string {
	return "/api/v1/namespaces/" + o.Metadata.Namespace + "/" + kind + "/" + o.Metadata.Name
}

func (k *kubelet) pod(ctx context.Context, p kubeObject) error {
	path := p.path("pods")
	switch {
	case p.Metadata.DeletionTimestamp != "":
		return k.change(ctx, http.MethodDelete, path, jsonType, map[string]any{"apiVersion": "v1", "kind": "DeleteOptions",
			"gracePeriodSeconds": 0, "preconditions": map[string]string{"uid": p.Metadata.UID}})
	case p.Spec.NodeName == "":
		return k.change(ctx, http.MethodPost, path+"/binding", jsonType, map[string]any{"apiVersion": "v1", "kind": "Binding",
			"metadata": map[string]string{"name": p.Metadata.Name, "uid": p.Metadata.UID},
			"target":   map[string]string{"kind": "Node", "name": nodeName}})
	case p.Status.Phase == "Pending" && len(p.Status.ContainerStatuses) == 0:
		return k.change(ctx, http.MethodPatch, path+"/status", mergeType, map[string]any{"status": p.running()})
	}
	return nil
}

// running is the status of a Pod that has been started.
func (o *kubeObject) running() map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	phase, ready := "Running", true
	var statuses []map[string]any
	for _, c := range o.Spec.Containers {
		s := map[string]any{"name": c.Name, "image": c.Image, "imageID": c.Image, "containerID": "test://" + o.Metadata.UID + c.Name,
			"ready": false, "started": false, "restartCount": 0, "state": map[string]any{"running": map[string]string{"startedAt": now}}}
		switch {
		case strings.Contains(c.Image, ImageMissing):
			phase, ready = "Pending", false
			s["state"] = waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: not found", c.Image))
		case strings.Contains(c.Image, ImageCrashes):
			ready = false
			s["state"], s["restartCount"] = waiting("CrashLoopBackOff", "back-off 10s restarting failed container"), 3
		case strings.Contains(c.Image, ImageNeverReady):
			ready = false
		case o.Spec.RestartPolicy != "Always": // a Job's, which is done at once
			phase = "Succeeded"
			s["state"] = map[string]any{"terminated": map[string]any{"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
		default:
			s["ready"], s["started"] = true, true
		}
		statuses = append(statuses, s)
	}
	is := map[bool]string{true: "True", false: "False"}
	return map[string]any{"phase": phase, "startTime": now, "hostIP": "127.0.0.1", "podIP": "127.0.0.2",
		"podIPs": []any{map[string]string{"ip": "127.0.0.2"}}, "containerStatuses": statuses,
		"conditions": []any{condition("PodScheduled", "True", now), condition("Initialized", "True", now),
			condition("ContainersReady", is[ready], now), condition("Ready", is[ready], now)}}
}

func waiting(reason, message string) map[string]any {
	return map[string]any{"waiting": map[string]string{"reason": reason, "message": message}}
}

func condition(kind, status, since string) map[string]string {
	return map[string]string{"type": kind, "status": status, "lastTransitionTime": since}
}

func (k *kubelet) service(ctx context.Context, s kubeObject) error {
	if s.Spec.Type != "LoadBalancer" || len(s.Status.LoadBalancer.Ingress) > 0 {
		return nil
	}
	return k.change(ctx, http.MethodPatch, s.path("services")+"/status", mergeType, balanced())
}

func (k *kubelet) address(ctx context.Context, i kubeObject) error {
	if len(i.Status.LoadBalancer.Ingress) > 0 {
		return nil
	}
	path := "/apis/networking.k8s.io/v1/namespaces/" + i.Metadata.Namespace + "/ingresses/" + i.Metadata.Name + "/status"
	return k.change(ctx, http.MethodPatch, path, mergeType, balanced())
}

// balanced is the status of what has an address.
func balanced() any {
	return map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]string{"ip": "127.0.0.1"}}}}}
}

// change changes an object, if it is still there and still the same.
func (k *kubelet) change(ctx context.Context, method, path, mediaType string, body any) error {
	status, err := k.api.json(ctx, method, path, mediaType, body, nil)
	if status == http.StatusNotFound || status == http.StatusConflict {
		return nil
	}
	return err
}

// ServeHTTP answers what the API server asks a kubelet: what a container has
// printed, at /containerLogs/NAMESPACE/POD/CONTAINER. One that is followed
// prints no more.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "containerLogs" {
		http.NotFound(w, r)
		return
	}
	at := ""
	if r.URL.Query().Get("timestamps") == "true" {
		at = time.Now().UTC().Format(time.RFC3339Nano) + " "
	}
	for _, line := range []string{"starting " + parts[3] + " of " + parts[2], "listening"} {
		_, _ = io.WriteString(w, at+line+"\n") //nolint:gosec // to the API server; where it has gone, nobody reads it
	}
	if r.URL.Query().Get("follow") == "true" {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}
