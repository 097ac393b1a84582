package app

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/period"
)

// setting is one line of the configuration: how it is called, what it means
// and where it goes.
type setting struct {
	// name is the key in the file. WEIR_NAME is its variable, --na-me its flag.
	name string
	help string
	def  func() string
	// mask hides what is secret about a value that is shown. Nil: nothing is.
	mask func(string) string
	// get gives "" for a setting that is not set.
	get func(*Config) string
	set func(*Config, string) error
	// also is another variable for it, whose value is a number of seconds where the
	// setting is a duration. Empty: there is none.
	also string
}

// from looks a setting up in the environment and returns which variable had it.
func (s *setting) from(env func(string) (string, bool)) (value, variable string) {
	if text, ok := env(s.env()); ok && text != "" {
		return text, s.env()
	}
	if s.also == "" {
		return "", ""
	}
	text, ok := env(s.also)
	if !ok || text == "" {
		return "", ""
	}
	if strings.HasSuffix(s.also, "_SEC") {
		text += "s"
	}
	return text, s.also
}

func (s *setting) env() string  { return "WEIR_" + strings.ToUpper(s.name) }
func (s *setting) flag() string { return strings.ReplaceAll(s.name, "_", "-") }

func fixed(s string) func() string { return func() string { return s } }

// settings are all there is, in the order people read them.
var settings = []setting{
	text("database_url", "PostgreSQL to use; empty: Weir runs its own in the data folder", nil, func(c *Config) *string { return &c.DatabaseURL }).masked(MaskURL),
	text("data", "data folder", defaultData, func(c *Config) *string { return &c.Data }),
	text("listen", "address for HTTP", fixed("127.0.0.1:8470"), func(c *Config) *string { return &c.Listen }),
	text("public_url", "where people reach the server, such as https://weir.example.org; empty: http and the address of listen", nil, func(c *Config) *string { return &c.PublicURL }),
	text("peer_url", "where other servers on the same database reach this one, such as http://10.0.0.5:8470; empty: they do not, and a forward waits until its agent calls the right server", nil, func(c *Config) *string { return &c.PeerURL }),
	list("allowed_hosts", "further names that browsers may call the server by, such as weir-1,weir-1:8470", func(c *Config) *[]string { return &c.AllowedHosts }),
	text("tls_cert", "certificate file, to speak HTTPS; needs tls_key", nil, func(c *Config) *string { return &c.TLSCert }),
	text("tls_key", "key file of tls_cert", nil, func(c *Config) *string { return &c.TLSKey }),
	duration("drain_delay", "how long a server that stops still answers, so that balancers hear of it first: 10s, or none", "", func(c *Config) *time.Duration { return &c.DrainDelay }).optional().orNone(func(c *Config) *time.Duration { return &c.DrainDelay }),
	list("trusted_proxies", "networks whose X-Forwarded-For counts, such as 10.0.0.0/8,192.0.2.1/32", func(c *Config) *[]string { return &c.TrustedProxies }),
	boolean("metrics_open", "true: /metrics needs no token", func(c *Config) *bool { return &c.MetricsOpen }),
	text("trace_endpoint", "OTLP collector over HTTP that gets traces, such as http://127.0.0.1:4318", nil, func(c *Config) *string { return &c.TraceEndpoint }),
	text("redis_url", "Redis that carries hints between servers; empty: PostgreSQL does", nil, func(c *Config) *string { return &c.RedisURL }).masked(MaskURL),
	text("redis_channel_sse_prefix", "beginning of the names of channels in Redis", fixed("weir:sse:"), func(c *Config) *string { return &c.RedisPrefix }),
	text("oidc_issuer", "identity provider that people log in at; empty: none", nil, func(c *Config) *string { return &c.OIDC.Issuer }),
	text("oidc_client_id", "how the provider knows this server", nil, func(c *Config) *string { return &c.OIDC.ClientID }),
	text("oidc_client_secret", "what proves it to the provider", nil, func(c *Config) *string { return &c.OIDC.ClientSecret }).masked(hide),
	text("oidc_role_claim", "claim that names the groups of a person", fixed("groups"), func(c *Config) *string { return &c.OIDC.RoleClaim }),
	pairs("oidc_roles", "which group has which role, such as ops=admin,dev=operator", func(c *Config) *map[string]string { return &c.OIDC.Roles }),
	text("oidc_default_role", "role of who is in none of these groups", fixed("viewer"), func(c *Config) *string { return &c.OIDC.DefaultRole }),
	text("postgres_bin", "folder with the programs of PostgreSQL; empty: look for them", nil, func(c *Config) *string { return &c.PostgresBin }),
	text("log_format", "text or json", fixed("text"), func(c *Config) *string { return &c.LogFormat }),
	text("log_level", "debug, info, warn or error", fixed("warn"), func(c *Config) *string { return &c.LogLevel }),
	duration("retention", "how long history is kept: 720h, 30d or forever", "30d", func(c *Config) *time.Duration { return &c.Retention }),
	number("partition_days", "days that one partition of the history spans", "7", func(c *Config) *int { return &c.PartitionDays }),
	text("events_export", "where the timeline is written before it is dropped: a folder, the URL of a bucket, or the word bucket", nil, func(c *Config) *string { return &c.EventsExport }).masked(MaskURL),
	text("bucket", "where artifacts and logs are kept: folder:///path or s3://KEY:SECRET@host/bucket; empty: a folder in the data folder", nil, func(c *Config) *string { return &c.Bucket }).masked(MaskURL),
	text("secret_key_file", "file with the key that seals secrets; empty: secret.key in the data folder", nil, func(c *Config) *string { return &c.SecretKeyFile }),
	text("wake_scripts", "folder with the scripts that may wake nodes", nil, func(c *Config) *string { return &c.WakeScripts }),
	list("wake_urls", "beginnings of addresses that may be called to wake nodes, such as https://power.example.org/", func(c *Config) *[]string { return &c.WakeURLs }),
	text("wake_broadcast", "where magic packets go, host:port", fixed("255.255.255.255:9"), func(c *Config) *string { return &c.WakeBroadcast }),
	number("rollout_workers", "how many changes of databases this server brings at once; -1: none", "8", func(c *Config) *int { return &c.RolloutWorkers }),
	list("workspace_providers", "how workspaces may run here: process, docker; empty: process with weir up, none with weir server", func(c *Config) *[]string { return &c.WorkspaceProviders }),
	text("workspace_domain", "domain of the hosts of workspaces, such as ws.example.org; empty: localhost, for a server that is for this machine alone", nil, func(c *Config) *string { return &c.WorkspaceDomain }),
	list("workspace_images", "images that workspaces on docker may name, such as registry.example.org/dev/*; empty: only the built-in one", func(c *Config) *[]string { return &c.WorkspaceImages }),
	text("workspace_network", "network of workspaces on docker: own, none, or the name of one that is there", fixed("own"), func(c *Config) *string { return &c.WorkspaceNetwork }),
	number("workspace_cpus", "processors that a workspace on docker gets at most", "2", func(c *Config) *int { return &c.WorkspaceCPUs }),
	number("workspace_memory", "memory that a workspace on docker gets at most, in MiB", "2048", func(c *Config) *int { return &c.WorkspaceMemory }),
	text("workspace_program", "Linux build of Weir that runs inside of workspaces on docker, where this program is none; empty: this program", nil, func(c *Config) *string { return &c.WorkspaceProgram }),
	text("docker_host", "engine that runs workspaces, such as unix:///var/run/docker.sock; empty: DOCKER_HOST, or that of this machine", nil, func(c *Config) *string { return &c.DockerHost }),
	duration("workspace_standby_ttl", "after how long without use a workspace is stopped; replaces the policy's at each start", "", func(c *Config) *time.Duration { return &c.WorkspaceStandbyTTL }).optional(),
	duration("workspace_archive_ttl", "after how long in standby a workspace is archived; replaces the policy's at each start", "", func(c *Config) *time.Duration { return &c.WorkspaceArchiveTTL }).optional(),
	text("node_name", "name of this machine", hostname, func(c *Config) *string { return &c.NodeName }).or("ACC_NODE_NAME"),
	pairs("node_labels", "what tasks can ask for of this machine, such as gpu=true,zone=eu", func(c *Config) *map[string]string { return &c.NodeLabels }).or("ACC_NODE_LABELS"),
	pairs("node_services", "services that this machine takes tasks of, and how many at once, such as renderer=2,audio=4; empty: the drivers that work here", func(c *Config) *map[string]string { return &c.NodeServices }),
	duration("agent_lease", "how long an agent has to renew the lease of a task", "30s", func(c *Config) *time.Duration { return &c.AgentLease }).or("ACC_HEARTBEAT_TTL_SEC"),
	duration("agent_keep", "how much longer work goes on without contact, and stays with its node, where the work does not say so itself: 10m, or none", "10m", func(c *Config) *time.Duration { return &c.AgentKeep }).orNone(func(c *Config) *time.Duration { return &c.AgentKeep }),
	duration("coordinator_ttl", "how long a leader may be silent before another takes over", "12s", func(c *Config) *time.Duration { return &c.CoordinatorTTL }),
	duration("coordinator_idle_interval", "longest time between two looks at what is due", "1s", func(c *Config) *time.Duration { return &c.CoordinatorIdleInterval }),
	duration("coordinator_active_interval", "shortest time between two looks when there is work", "50ms", func(c *Config) *time.Duration { return &c.CoordinatorActiveInterval }),
}

func text(name, help string, def func() string, at func(*Config) *string) setting {
	return setting{
		name: name, help: help, def: def,
		get: func(c *Config) string { return *at(c) },
		set: func(c *Config, v string) error { *at(c) = v; return nil },
	}
}

func number(name, help, def string, at func(*Config) *int) setting {
	return setting{
		name: name, help: help, def: fixed(def),
		get: func(c *Config) string {
			if *at(c) == 0 {
				return ""
			}
			return strconv.Itoa(*at(c))
		},
		set: func(c *Config, v string) (err error) {
			if *at(c), err = strconv.Atoi(v); err != nil || *at(c) == 0 {
				return fmt.Errorf("%q is not a positive number", v)
			}
			return nil
		},
	}
}

func duration(name, help, def string, at func(*Config) *time.Duration) setting {
	return setting{
		name: name, help: help, def: fixed(def),
		get: func(c *Config) string {
			if *at(c) == 0 {
				return ""
			}
			return formatDuration(*at(c))
		},
		set: func(c *Config, v string) (err error) {
			*at(c), err = ParseDuration(v)
			return err
		},
	}
}

func list(name, help string, at func(*Config) *[]string) setting {
	return setting{
		name: name, help: help,
		get: func(c *Config) string { return strings.Join(*at(c), ",") },
		set: func(c *Config, v string) error {
			*at(c) = nil
			for part := range strings.SplitSeq(v, ",") {
				if part = strings.TrimSpace(part); part != "" {
					*at(c) = append(*at(c), part)
				}
			}
			return nil
		},
	}
}

func pairs(name, help string, at func(*Config) *map[string]string) setting {
	return setting{
		name: name, help: help,
		get: func(c *Config) string {
			var out []string
			for _, key := range slices.Sorted(maps.Keys(*at(c))) {
				out = append(out, key+"="+(*at(c))[key])
			}
			return strings.Join(out, ",")
		},
		set: func(c *Config, v string) error {
			found := map[string]string{}
			for part := range strings.SplitSeq(v, ",") {
				key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
				if !ok || key == "" || value == "" {
					return fmt.Errorf("%q is not of the form name=value,name=value", v)
				}
				found[key] = value
			}
			*at(c) = found
			return nil
		},
	}
}

func boolean(name, help string, at func(*Config) *bool) setting {
	return setting{
		name: name, help: help, def: fixed("false"),
		get: func(c *Config) string { return strconv.FormatBool(*at(c)) },
		set: func(c *Config, v string) (err error) {
			if *at(c), err = strconv.ParseBool(v); err != nil {
				return fmt.Errorf("%q is neither true nor false", v)
			}
			return nil
		},
	}
}

func (s setting) masked(mask func(string) string) setting {
	s.mask = mask
	return s
}

// or names another variable of the setting.
func (s setting) or(variable string) setting {
	s.also = variable
	return s
}

// optional has no default: nothing is said unless somebody says it.
func (s setting) optional() setting {
	s.def = nil
	return s
}

// orNone takes the word none, which is kept as a value below zero: zero is what is
// not set.
func (s setting) orNone(at func(*Config) *time.Duration) setting {
	get, set := s.get, s.set
	s.get = func(c *Config) string {
		if *at(c) < 0 {
			return "none"
		}
		return get(c)
	}
	s.set = func(c *Config, v string) error {
		switch v {
		case "none":
			*at(c) = -1
			return nil
		case "forever":
			return fmt.Errorf("%q is not a duration such as 10s, nor none", v)
		}
		return set(c, v)
	}
	return s
}

// hide hides a secret whole.
func hide(s string) string {
	if s == "" {
		return ""
	}
	return "***"
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// ParseDuration reads a duration longer than zero, and "forever".
func ParseDuration(s string) (time.Duration, error) {
	if s == "forever" {
		return Forever, nil
	}
	d, err := period.Parse(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q is not a positive duration", s)
	}
	return d, err
}

func formatDuration(d time.Duration) string {
	switch {
	case d == Forever:
		return "forever"
	case d > 0 && d%period.Day == 0:
		return strconv.Itoa(int(d/period.Day)) + "d"
	}
	return period.Format(d)
}

var passwordWord = regexp.MustCompile(`(?i)(password\s*=\s*)('[^']*'|\S+)`)

// MaskURL hides the password of a database address.
func MaskURL(s string) string {
	if !strings.Contains(s, "://") {
		return passwordWord.ReplaceAllString(s, "$1***")
	}
	u, err := url.Parse(s)
	if err != nil {
		return "***"
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "***")
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", "***")
		u.RawQuery = q.Encode()
	}
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", "***")
}
