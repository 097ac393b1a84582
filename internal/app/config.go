package app

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
)

// Forever is a retention that never drops anything.
const Forever time.Duration = -1

// Config is everything that can be set. The zero value works: see Defaults.
type Config struct {
	// DatabaseURL leads to a PostgreSQL that somebody else runs. Empty: the one
	// in the data folder.
	DatabaseURL string
	// Data is the folder of the private PostgreSQL and of server.json.
	Data string
	// Listen is the address for HTTP.
	Listen string
	// PublicURL is where people reach the server, if that is not Listen: behind a
	// proxy, by a name. Links, cookies and the check of the Host header go by it.
	PublicURL string
	// PeerURL is where other servers reach this one. Empty: they do not.
	PeerURL string
	// AllowedHosts are further names by which browsers may call the server.
	AllowedHosts []string
	// TLSCert and TLSKey are files; with both the server speaks HTTPS itself.
	TLSCert, TLSKey string
	// DrainDelay is how long a server that was told to stop answers on, so that
	// balancers hear of it first. Zero: five seconds with Serve, none with Up. Below
	// zero: none.
	DrainDelay time.Duration
	// TrustedProxies are the networks whose X-Forwarded-For counts.
	TrustedProxies []string
	// MetricsOpen shows /metrics to anybody. Else a token with metrics:read is
	// needed.
	MetricsOpen bool
	// TraceEndpoint is an OTLP collector over HTTP. Empty: no traces, unless the
	// standard OTEL_ variables name one.
	TraceEndpoint string
	// RedisURL leads to a Redis that carries hints between servers. Empty:
	// PostgreSQL does.
	RedisURL string
	// RedisPrefix begins the names of the channels for events.
	RedisPrefix string
	// OIDC lets people log in at an identity provider. No issuer: it is off.
	OIDC OIDC
	// PostgresBin is the folder of the server's programs. Empty: look for them.
	PostgresBin string
	// LogFormat is text or json; LogLevel debug, info, warn or error.
	LogFormat, LogLevel string
	// Retention is how long history is kept; Forever: always.
	Retention time.Duration
	// PartitionDays is how many days one partition of the history spans.
	PartitionDays int
	// EventsExport is a folder, the URL of a bucket, or "bucket" for Bucket itself.
	// Partitions of the timeline are written there before they are dropped. Empty:
	// they are just dropped.
	EventsExport string
	// Bucket is where artifacts and logs are kept: folder:///path or
	// s3://key:secret@host/bucket. Empty: a folder below Data, where there is one.
	Bucket string
	// SecretKeyFile holds the key that seals secrets. Empty: a file in Data.
	SecretKeyFile string
	// WakeScripts is the folder of the scripts that may wake a node; WakeURLs are
	// the beginnings of addresses that may.
	WakeScripts string
	WakeURLs    []string
	// WakeBroadcast is where magic packets go, host:port. Empty: everybody on the
	// local network.
	WakeBroadcast string
	// RolloutWorkers is how many changes of databases go on at once; below zero:
	// none.
	RolloutWorkers int
	// WorkspaceProviders are how workspaces may run here: process, docker. Empty:
	// process, where Weir has a data folder, else none.
	WorkspaceProviders []string
	// WorkspaceDomain ends the names of hosts of workspaces: ws-ID.DOMAIN. Empty:
	// localhost, where the server is for this machine alone.
	WorkspaceDomain string
	// WorkspaceImages are the images that workspaces on docker may name; * stands for a
	// part of a name, ** for several. Empty: only the built-in one runs.
	WorkspaceImages []string
	// WorkspaceNetwork is that of containers: own, none, or the name of one that is there.
	WorkspaceNetwork string
	// WorkspaceCPUs and WorkspaceMemory, in MiB, are the most that one container gets.
	WorkspaceCPUs, WorkspaceMemory int
	// WorkspaceProgram is a Linux build of Weir, which runs inside of containers. Empty:
	// this program.
	WorkspaceProgram string
	// DockerHost is the engine that runs workspaces. Empty: DOCKER_HOST, or the socket
	// of this machine.
	DockerHost string
	// WorkspaceStandbyTTL and WorkspaceArchiveTTL replace those of the policy when a
	// server starts. Zero: the policy stays as it is.
	WorkspaceStandbyTTL, WorkspaceArchiveTTL time.Duration
	// NodeName is this machine's name. Empty: the host's.
	NodeName string
	// NodeLabels is what tasks can ask for of this machine. NodeServices are the services
	// that its agent serves, with the number of tasks at once.
	NodeLabels, NodeServices map[string]string
	// AgentLease is how long an agent has to renew the lease of a task, and AgentKeep how
	// much longer work goes on without contact; below zero: no longer.
	AgentLease, AgentKeep time.Duration
	// CoordinatorTTL is how long a leader may be silent.
	CoordinatorTTL time.Duration
	// CoordinatorIdleInterval is the longest time between two looks at what is
	// due; CoordinatorActiveInterval the shortest one when there is work.
	CoordinatorIdleInterval, CoordinatorActiveInterval time.Duration
}

// OIDC is an identity provider.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	// RoleClaim is the claim that names groups or roles; Roles says which of them
	// is which role of Weir. Who has none of them gets DefaultRole.
	RoleClaim, DefaultRole string
	Roles                  map[string]string
}

// Defaults fills in what is not set.
func (c Config) Defaults() Config {
	for _, s := range settings {
		if s.get(&c) == "" && s.def != nil {
			// A default is ours; that it parses is tested.
			_ = s.set(&c, s.def())
		}
	}
	return c
}

// Validate reports all that is wrong with a configuration, together.
func (c Config) Validate() error {
	var f faults
	if c.DatabaseURL != "" {
		f.check("database_url", checkDatabaseURL(c.DatabaseURL))
	}
	f.check("listen", checkListen(c.Listen))
	c.validateHTTP(&f)
	if !slices.Contains([]string{"text", "json"}, c.LogFormat) {
		f.add("log_format", "%q is neither text nor json", c.LogFormat)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		f.add("log_level", "%q is none of debug, info, warn and error", c.LogLevel)
	}
	if c.Retention != Forever && c.Retention < time.Hour {
		f.add("retention", "%s is under an hour; say forever to keep everything", c.Retention)
	}
	if c.PartitionDays < 1 || c.PartitionDays > 366 {
		f.add("partition_days", "%d is outside 1 .. 366", c.PartitionDays)
	}
	c.validateWorkspaces(&f)
	c.validateAgent(&f)
	if c.CoordinatorTTL < time.Second {
		f.add("coordinator_ttl", "%s is under a second", c.CoordinatorTTL)
	}
	if c.CoordinatorIdleInterval < time.Second {
		f.add("coordinator_idle_interval", "%s is under a second", c.CoordinatorIdleInterval)
	}
	if c.CoordinatorActiveInterval < time.Millisecond || c.CoordinatorActiveInterval > c.CoordinatorIdleInterval {
		f.add("coordinator_active_interval", "%s is outside 1ms .. coordinator_idle_interval", c.CoordinatorActiveInterval)
	}
	return f.err()
}

// validateAgent looks at what an agent of this machine is told.
func (c Config) validateAgent(f *faults) {
	if len(c.NodeName) > 200 {
		f.add("node_name", "longer than 200 characters")
	}
	for _, service := range slices.Sorted(maps.Keys(c.NodeServices)) {
		if n, err := strconv.Atoi(c.NodeServices[service]); err != nil || n < 1 {
			f.add("node_services", "%s=%s: expected a number of tasks such as %s=2", service, c.NodeServices[service], service)
		}
	}
	if c.AgentLease < 5*time.Second || c.AgentLease > time.Hour {
		f.add("agent_lease", "%s is outside 5s .. 1h", c.AgentLease)
	}
	if c.AgentKeep > node.KeepMost {
		f.add("agent_keep", "%s is over a day", c.AgentKeep)
	}
}

// validateHTTP looks at what faces the network.
func (c Config) validateHTTP(f *faults) {
	if c.PublicURL != "" {
		f.check("public_url", checkWebURL(c.PublicURL))
	}
	if c.PeerURL != "" {
		f.check("peer_url", checkWebURL(c.PeerURL))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		f.add("tls_cert", "tls_cert and tls_key go together")
	}
	if c.DrainDelay > 10*time.Minute {
		f.add("drain_delay", "%s is over ten minutes", c.DrainDelay)
	}
	for _, network := range c.TrustedProxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			f.add("trusted_proxies", "%q is not a network such as 10.0.0.0/8", network)
		}
	}
	if c.RedisURL != "" {
		if u, err := url.Parse(c.RedisURL); err != nil || !slices.Contains([]string{"redis", "rediss", "unix"}, u.Scheme) {
			f.add("redis_url", "expected redis://user:password@host:6379/0") // it may hold a password, so it is not repeated
		}
	}
	if c.TraceEndpoint != "" {
		f.check("trace_endpoint", checkWebURL(c.TraceEndpoint))
	}
	if c.OIDC.Issuer == "" {
		return
	}
	f.check("oidc_issuer", checkWebURL(c.OIDC.Issuer))
	if c.OIDC.ClientID == "" {
		f.add("oidc_client_id", "is needed with oidc_issuer")
	}
	if c.PublicURL == "" {
		f.add("public_url", "is needed with oidc_issuer: the provider sends people back there")
	}
	for group, role := range c.OIDC.Roles {
		if !isRole(role) {
			f.add("oidc_roles", "%s=%s: %q is no role; there are viewer, operator, maintainer and admin", group, role, role)
		}
	}
	if !isRole(c.OIDC.DefaultRole) {
		f.add("oidc_default_role", "%q is no role; there are viewer, operator, maintainer and admin", c.OIDC.DefaultRole)
	}
}

func isRole(s string) bool {
	return slices.Contains(auth.Roles(), auth.Role(s))
}

func checkWebURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%q is not an address such as https://weir.example.org", s)
	}
	return nil
}

func checkDatabaseURL(s string) error {
	u, err := url.Parse(s)
	if err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		return nil
	}
	if !strings.Contains(s, "://") && strings.Contains(s, "=") {
		return nil // the keyword form: host=… dbname=…
	}
	// The text may hold a password, so it is not repeated.
	return fmt.Errorf("expected postgres://user:password@host:port/database")
}

func checkListen(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%q is not an address such as 127.0.0.1:8470", s)
	}
	return nil
}

// defaultData is ./.weir if it is there, else a folder for state of this user.
func defaultData() string { return dataFolders()[0] }

// dataFolders are the folders where a server may run when nobody says which,
// the likeliest first.
func dataFolders() []string {
	const here = ".weir"
	user := userData()
	if info, err := os.Stat(here); user == "" || err == nil && info.IsDir() {
		return slices.DeleteFunc([]string{here, user}, func(s string) bool { return s == "" })
	}
	return []string{user, here}
}

// userData is where the system wants such data; "" if the user has no home.
func userData() string {
	if os.Geteuid() == 0 {
		// The server of a root's Weir is another user, and homes are closed to it.
		return "/var/lib/weir"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "weir")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "weir")
}
