package local

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// How previews may be kept apart from the machine.
const (
	// Auto takes bubblewrap where it works, else namespaces, else none.
	Auto = "auto"
	// Bubblewrap runs the command by bwrap: processes of its own, and of the
	// files only the preview's and the system's programs.
	Bubblewrap = "bubblewrap"
	// Namespaces gives processes of their own by the kernel's user namespaces;
	// files stay visible.
	Namespaces = "namespaces"
	// None leaves the command among the other processes; its descendants are
	// found by their ancestry.
	None = "none"
)

// Config is the section local of the configuration of previews.
type Config struct {
	// Dir is the folder that previews live in, each in one of its own.
	Dir string `yaml:"dir"`
	// Isolation is auto (default), bubblewrap, namespaces or none.
	Isolation string `yaml:"isolation"`
	// ReadOnly are further folders that a preview sees under bubblewrap, such
	// as those of toolchains; the system's own are always there.
	ReadOnly []string `yaml:"readOnly"`
	// Path is the PATH of previews, default that of Fairlead.
	Path string `yaml:"path"`
	// Limits bound each preview.
	Limits Limits `yaml:"limits"`
	// HealthTimeout is how long a preview may take to become healthy; default
	// 2m.
	HealthTimeout time.Duration `yaml:"healthTimeout"`
	// Grace is how long processes have to end by themselves before they are
	// killed; default 5s.
	Grace time.Duration `yaml:"grace"`
}

// Limits bound what one preview may use; zero values mean the defaults.
type Limits struct {
	// MemoryBytes of all its processes; default 1 GiB.
	MemoryBytes int64 `yaml:"memoryBytes"`
	// Processes at once, threads included where the kernel counts; default 256.
	Processes int `yaml:"processes"`
	// DiskBytes of its folder, the work tree included; default 2 GiB.
	DiskBytes int64 `yaml:"diskBytes"`
	// CPUs that it may keep busy, where the kernel can bound that; default 1.
	CPUs float64 `yaml:"cpus"`
	// LogBytes of each of the two log files; default 1 MiB.
	LogBytes int64 `yaml:"logBytes"`
}

// The defaults of Config and Limits.
const (
	DefaultHealthTimeout       = 2 * time.Minute
	DefaultGrace               = 5 * time.Second
	DefaultMemoryBytes   int64 = 1 << 30
	DefaultProcesses           = 256
	DefaultDiskBytes     int64 = 2 << 30
	DefaultCPUs                = 1.0
	DefaultLogBytes      int64 = 1 << 20
)

// minLogBytes holds at least a few long lines.
const minLogBytes = 16 << 10

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key below local, for example limits.cpus.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

// Validate tells everything that is wrong with the section. It looks at no
// file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	add := func(field, format string, args ...any) {
		ps = append(ps, Problem{field, fmt.Sprintf(format, args...)})
	}
	if c.Dir == "" {
		add("dir", "the folder of previews is missing")
	}
	if modes := []string{"", Auto, Bubblewrap, Namespaces, None}; !slices.Contains(modes, c.Isolation) {
		add("isolation", "%q is none of auto, bubblewrap, namespaces, none", c.Isolation)
	}
	for i, dir := range c.ReadOnly {
		if !filepath.IsAbs(dir) {
			add(fmt.Sprintf("readOnly[%d]", i), "%q is no absolute path", dir)
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"healthTimeout", c.HealthTimeout}, {"grace", c.Grace}} {
		if d.value < 0 {
			add(d.field, "%s is less than nothing", d.value)
		}
	}
	c.Limits.validate(add)
	return ps
}

func (l *Limits) validate(add func(field, format string, args ...any)) {
	for _, n := range []struct {
		field        string
		value, least float64
	}{
		{"memoryBytes", float64(l.MemoryBytes), 16 << 20},
		{"processes", float64(l.Processes), 4},
		{"diskBytes", float64(l.DiskBytes), 1 << 20},
		{"cpus", l.CPUs, 0.01},
		{"logBytes", float64(l.LogBytes), minLogBytes},
	} {
		if n.value != 0 && n.value < n.least {
			add("limits."+n.field, "%v is too little; at least %v", n.value, n.least)
		}
	}
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	if c.Isolation == "" {
		c.Isolation = Auto
	}
	if c.HealthTimeout == 0 {
		c.HealthTimeout = DefaultHealthTimeout
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	l := &c.Limits
	if l.MemoryBytes == 0 {
		l.MemoryBytes = DefaultMemoryBytes
	}
	if l.Processes == 0 {
		l.Processes = DefaultProcesses
	}
	if l.DiskBytes == 0 {
		l.DiskBytes = DefaultDiskBytes
	}
	if l.CPUs == 0 {
		l.CPUs = DefaultCPUs
	}
	if l.LogBytes == 0 {
		l.LogBytes = DefaultLogBytes
	}
	return c
}
