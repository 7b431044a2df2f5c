package argocd

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
)

// Config is the section argocd of the configuration of previews.
type Config struct {
	// Instance is the Argo CD where neither the service nor its catalog entry
	// names one; the only one that there is if empty.
	Instance string `yaml:"instance"`
	// Project is the AppProject of previews, unless the instance names one;
	// default previews. It bounds what previews may deploy from and to.
	Project string `yaml:"project"`
	// Cluster is the URL of the API server of the cluster as Argo CD knows it,
	// or its name there; default https://kubernetes.default.svc.
	Cluster string `yaml:"cluster"`
	// NamePrefix begins the names of namespaces and applications; default
	// preview-.
	NamePrefix string `yaml:"namePrefix"`
	// Repository is where manifests are, {repository} by default: the
	// service's own. See Placeholders.
	Repository string `yaml:"repository"`
	// Path is the folder of manifests, {dir}/deploy by default.
	Path string `yaml:"path"`
	// Rewrite gives repositories the URLs by which Argo CD reads them; the
	// first that fits counts.
	Rewrite []Rewrite `yaml:"rewrite"`
	// URL is where previews answer, for example https://{id}.preview.example.com;
	// what Argo CD finds in Ingresses if empty.
	URL string `yaml:"url"`
	// Quota is the ResourceQuota of each preview; see DefaultQuota.
	Quota map[string]string `yaml:"quota"`
	// Container is what a container has that asks for nothing.
	Container Container `yaml:"container"`
	// Network bounds whom previews talk with.
	Network Network `yaml:"network"`
	// Guards is where the manifests of the namespace and its guards are;
	// Fairlead itself serves them by default.
	Guards Guards `yaml:"guards"`
	// Background deletes in the background, not in the foreground: Argo CD then
	// does not wait for what follows from a resource.
	Background bool `yaml:"background"`
}

// Rewrite replaces the beginning of a URL.
type Rewrite struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

// Container are limits and requests of containers that name none.
type Container struct {
	// CPU and Memory are limits, 500m and 512Mi by default.
	CPU    string `yaml:"cpu"`
	Memory string `yaml:"memory"`
	// RequestCPU and RequestMemory are requests, 50m and 128Mi by default.
	RequestCPU    string `yaml:"requestCPU"`
	RequestMemory string `yaml:"requestMemory"`
}

// Network says whom previews talk with, beside themselves.
type Network struct {
	// From are labels of namespaces whose Pods may reach previews; all may if
	// it is empty.
	From []map[string]string `yaml:"from"`
	// To are networks, CIDRs, that previews may reach. Without it they reach
	// names (DNS) and public addresses, and nothing in private networks.
	To []string `yaml:"to"`
	// Open leaves the network policy out.
	Open bool `yaml:"open"`
}

// Guards is a folder of a repository.
type Guards struct {
	Repository string `yaml:"repository"`
	Revision   string `yaml:"revision"`
	Path       string `yaml:"path"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key below argocd, for example quota.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

var (
	prefix   = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,18}[a-z0-9-])?$`)
	quantity = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([numkMGTPE]|[KMGTPE]i)?$`)
)

// DefaultQuota is the quota where none is configured.
func DefaultQuota() map[string]string {
	return map[string]string{"requests.cpu": "2", "requests.memory": "4Gi", "limits.cpu": "4", "limits.memory": "8Gi", "pods": "20",
		"persistentvolumeclaims": "5", "requests.storage": "20Gi", "services.loadbalancers": "0", "services.nodeports": "0"}
}

// Validate tells everything that is wrong with the section.
func (c *Config) Validate() []Problem {
	var ps []Problem
	add := func(field, format string, args ...any) {
		ps = append(ps, Problem{field, fmt.Sprintf(format, args...)})
	}
	if c.NamePrefix != "" && !prefix.MatchString(c.NamePrefix) {
		add("namePrefix", "%q cannot begin the name of a namespace; use at most 20 lower-case letters, digits and hyphens, for example preview-", c.NamePrefix)
	}
	for field, text := range map[string]string{"repository": c.Repository, "path": c.Path, "url": c.URL} {
		if key := unknownPlaceholder(text); key != "" {
			add(field, "there is no placeholder {%s}; there are %s", key, placeholderList())
		}
	}
	if c.URL != "" && !strings.HasPrefix(c.URL, "https://") && !strings.HasPrefix(c.URL, "http://") {
		add("url", "%q is no http or https URL", c.URL)
	}
	for i, r := range c.Rewrite {
		if r.From == "" || r.To == "" {
			add(fmt.Sprintf("rewrite[%d]", i), "from and to are both needed")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Quota)) {
		if !quantity.MatchString(c.Quota[key]) {
			add("quota."+key, "%q is no quantity; write for example 2, 500m or 4Gi", c.Quota[key])
		}
	}
	c.Container.validate(add)
	for i, cidr := range c.Network.To {
		if _, _, err := net.ParseCIDR(cidr); err != nil {
			add(fmt.Sprintf("network.to[%d]", i), "%q is no network; write for example 10.1.0.0/16", cidr)
		}
	}
	if g := c.Guards; g.Repository == "" && (g.Path != "" || g.Revision != "") {
		add("guards.repository", "the repository is missing that path and revision are of")
	}
	return ps
}

func (c Container) validate(add func(field, format string, args ...any)) {
	for field, value := range map[string]string{"cpu": c.CPU, "memory": c.Memory, "requestCPU": c.RequestCPU, "requestMemory": c.RequestMemory} {
		if value != "" && !quantity.MatchString(value) {
			add("container."+field, "%q is no quantity; write for example 500m or 512Mi", value)
		}
	}
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	c.Project = cmp.Or(c.Project, "previews")
	c.Cluster = cmp.Or(c.Cluster, "https://kubernetes.default.svc")
	c.NamePrefix = cmp.Or(c.NamePrefix, "preview-")
	c.Repository = cmp.Or(c.Repository, "{repository}")
	c.Path = cmp.Or(c.Path, "{dir}/deploy")
	if len(c.Quota) == 0 {
		c.Quota = DefaultQuota()
	}
	d := &c.Container
	d.CPU, d.Memory = cmp.Or(d.CPU, "500m"), cmp.Or(d.Memory, "512Mi")
	d.RequestCPU, d.RequestMemory = cmp.Or(d.RequestCPU, "50m"), cmp.Or(d.RequestMemory, "128Mi")
	return c
}
