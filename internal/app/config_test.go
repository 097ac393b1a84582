package app

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// none is an environment without variables.
func none(string) (string, bool) { return "", false }

func environment(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func TestZeroConfigWorks(t *testing.T) {
	if err := (Config{}).Defaults().Validate(); err != nil {
		t.Fatal(err)
	}
}

// given are values of every setting, for a flag, the environment and a file.
func given() map[string][3]string {
	return map[string][3]string{
		"database_url":                {"postgres://a/a", "postgres://b/b", "postgres://c/c"},
		"data":                        {"a", "b", "c"},
		"listen":                      {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
		"public_url":                  {"https://a", "https://b", "https://c"},
		"peer_url":                    {"http://a", "http://b", "http://c"},
		"allowed_hosts":               {"a", "b,c:1", "d"},
		"tls_cert":                    {"a", "b", "c"},
		"tls_key":                     {"a", "b", "c"},
		"trusted_proxies":             {"10.0.0.0/8", "192.0.2.0/24,192.0.2.1/32", "::1/128"},
		"metrics_open":                {"true", "false", "true"},
		"trace_endpoint":              {"http://a", "http://b", "http://c"},
		"redis_url":                   {"redis://a", "redis://b", "redis://c"},
		"redis_channel_sse_prefix":    {"a", "b", "c"},
		"oidc_issuer":                 {"https://a", "https://b", "https://c"},
		"oidc_client_id":              {"a", "b", "c"},
		"oidc_client_secret":          {"***", "***", "***"},
		"oidc_role_claim":             {"a", "b", "c"},
		"oidc_roles":                  {"a=admin", "b=viewer,c=operator", "d=maintainer"},
		"oidc_default_role":           {"admin", "operator", "maintainer"},
		"postgres_bin":                {"/a", "/b", "/c"},
		"log_format":                  {"json", "text", "json"},
		"log_level":                   {"debug", "info", "error"},
		"retention":                   {"1d", "36h", "forever"},
		"partition_days":              {"1", "2", "3"},
		"events_export":               {"a", "b", "c"},
		"bucket":                      {"folder:///a", "folder:///b", "folder:///c"},
		"secret_key_file":             {"a", "b", "c"},
		"wake_scripts":                {"a", "b", "c"},
		"wake_urls":                   {"https://a/", "https://b/,https://c/", "https://d/"},
		"wake_broadcast":              {"a:9", "b:9", "c:9"},
		"rollout_workers":             {"1", "2", "-1"},
		"workspace_providers":         {"process", "docker,process", "docker"},
		"workspace_domain":            {"a.example", "b.example", "c.example"},
		"workspace_images":            {"a", "b,c", "d/*"},
		"workspace_network":           {"none", "a", "b"},
		"workspace_cpus":              {"1", "3", "4"},
		"workspace_memory":            {"512", "1024", "4096"},
		"workspace_program":           {"/opt/weir", "/srv/weir", "/bin/weir"},
		"docker_host":                 {"unix:///a", "tcp://b:1", "unix:///c"},
		"workspace_standby_ttl":       {"10s", "20s", "1m"},
		"workspace_archive_ttl":       {"10s", "20s", "1m"},
		"node_name":                   {"a", "b", "c"},
		"node_labels":                 {"a=1", "b=2", "c=3"},
		"node_services":               {"a=1", "b=2", "c=3"},
		"agent_lease":                 {"10s", "20s", "1m"},
		"agent_keep":                  {"10s", "20s", "1m"},
		"drain_delay":                 {"10s", "20s", "1m"},
		"coordinator_ttl":             {"10s", "20s", "1m"},
		"coordinator_idle_interval":   {"2s", "3s", "4s"},
		"coordinator_active_interval": {"1ms", "2ms", "3ms"},
	}
}

// The delay of a server is not set by default, and yet there is one: what is shown is
// what a server does.
func TestShownDefaultOfDrainDelay(t *testing.T) {
	_, values, err := Load(Source{Env: none})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(values, func(v Value) bool { return v.Name == "drain_delay" })
	if want := drainServer.String() + " with weir server, none with weir up"; values[i].Default != want {
		t.Errorf("the default of drain_delay is shown as %q, want %q", values[i].Default, want)
	}
}

// Every setting, in every pair of places: the earlier place wins.
func TestPrecedence(t *testing.T) {
	values := given()
	// Some settings are refused without others.
	beside := map[string]map[string]string{
		"tls_cert":    {"WEIR_TLS_KEY": "x"},
		"tls_key":     {"WEIR_TLS_CERT": "x"},
		"oidc_issuer": {"WEIR_OIDC_CLIENT_ID": "x", "WEIR_PUBLIC_URL": "https://x"},
	}
	for _, s := range Settings() {
		v, ok := values[s.Name]
		if !ok {
			t.Errorf("%s has no case", s.Name)
			continue
		}
		file := filepath.Join(t.TempDir(), "weir.toml")
		if err := os.WriteFile(file, []byte(s.Name+" = "+`"`+v[2]+`"`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			place             string
			flag, env, inFile bool
			want, origin      string
		}{
			{"flag over all", true, true, true, v[0], "--" + s.Flag},
			{"environment over file", false, true, true, v[1], s.Variable},
			{"file over default", false, false, true, v[2], file},
			{"default", false, false, false, "", "default"},
		} {
			t.Run(s.Name+"/"+c.place, func(t *testing.T) {
				src := Source{Env: none, Flags: map[string]string{}}
				if c.flag {
					src.Flags[s.Name] = v[0]
				}
				vars := map[string]string{}
				if c.origin != "default" {
					maps.Copy(vars, beside[s.Name])
				}
				if c.env {
					vars[s.Variable] = v[1]
				}
				if c.inFile {
					vars["WEIR_CONFIG"] = file
				}
				src.Env = environment(vars)
				_, got, err := Load(src)
				if err != nil {
					t.Fatal(err)
				}
				for _, value := range got {
					if value.Name != s.Name {
						continue
					}
					if value.Origin != c.origin {
						t.Errorf("origin %q, want %q", value.Origin, c.origin)
					}
					if c.want != "" && value.Value != c.want && value.Value != formatOf(c.want) {
						t.Errorf("value %q, want %q", value.Value, c.want)
					}
				}
			})
		}
	}
}

// formatOf is a duration as it is printed.
func formatOf(s string) string {
	d, err := ParseDuration(s)
	if err != nil {
		return s
	}
	return formatDuration(d)
}

// The variables of earlier programs work for the settings that have them, after Weir's
// own.
func TestOtherVariables(t *testing.T) {
	vars := map[string]string{"ACC_HEARTBEAT_TTL_SEC": "120", "ACC_NODE_LABELS": "gpu=true,zone=eu", "ACC_NODE_NAME": "gpu-node-1"}
	c, values, err := Load(Source{Env: environment(vars)})
	if err != nil || c.AgentLease != 2*time.Minute || c.NodeLabels["zone"] != "eu" || c.NodeName != "gpu-node-1" {
		t.Errorf("%v %+v %v", c.AgentLease, c.NodeLabels, err)
	}
	for _, v := range values {
		if v.Name == "agent_lease" && v.Origin != "ACC_HEARTBEAT_TTL_SEC" {
			t.Errorf("the origin is %s", v.Origin)
		}
	}
	vars["WEIR_AGENT_LEASE"] = "20s"
	if c, _, err = Load(Source{Env: environment(vars)}); err != nil || c.AgentLease != 20*time.Second {
		t.Errorf("%v %v", c.AgentLease, err)
	}
	for name, bad := range map[string]string{"agent_lease": "4s", "agent_keep": "25h", "node_services": "a=0"} {
		if _, _, err := Load(Source{Env: none, Flags: map[string]string{name: bad}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	if c, _, err = Load(Source{Env: none, Flags: map[string]string{"agent_keep": "none"}}); err != nil || (AgentConfig{}).from(c).keep != 0 {
		t.Errorf("none: %v %v", c.AgentKeep, err)
	}
}

// An empty variable is one that is not set.
func TestEmptyVariable(t *testing.T) {
	c, _, err := Load(Source{Env: environment(map[string]string{"WEIR_LISTEN": ""})})
	if err != nil || c.Listen != "127.0.0.1:8470" {
		t.Errorf("got %q, %v", c.Listen, err)
	}
}

func TestFaultsTogether(t *testing.T) {
	_, _, err := Load(Source{Env: none, Flags: map[string]string{
		"listen": "x", "log_format": "xml", "log_level": "loud", "retention": "1m", "partition_days": "zero", "coordinator_ttl": "1ms",
		"coordinator_idle_interval": "1ms", "coordinator_active_interval": "1h", "node_name": strings.Repeat("n", 201), "database_url": "mysql://secret@x",
	}})
	var faults *ConfigError
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	if len(faults.Faults) != 10 {
		t.Errorf("%d faults, want 10:\n%v", len(faults.Faults), err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the text of a database URL is repeated: %v", err)
	}
}

// What faces the network is checked before the port is opened, and no secret is
// repeated in a fault or shown.
func TestNetworkSettings(t *testing.T) {
	_, values, err := Load(Source{Env: none, Flags: map[string]string{
		"public_url": "weir.example.org", "peer_url": "10.0.0.5:8470", "tls_cert": "cert.pem", "trusted_proxies": "10.0.0.0/8, here", "metrics_open": "perhaps", "redis_url": "http://u:secret@x",
		"trace_endpoint": "x", "oidc_issuer": "https://id.example.org", "oidc_roles": "ops=king", "oidc_default_role": "nobody", "oidc_client_secret": "secret",
	}})
	var faults *ConfigError
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	var named []string
	for _, f := range faults.Faults {
		named = append(named, f.Setting)
	}
	slices.Sort(named)
	want := []string{"metrics_open", "oidc_client_id", "oidc_default_role", "oidc_roles", "peer_url", "public_url", "redis_url", "tls_cert", "trace_endpoint", "trusted_proxies"}
	if !slices.Equal(named, want) {
		t.Errorf("faults of %v, want of %v", named, want)
	}
	if text := fmt.Sprint(err, values); strings.Contains(text, "secret@") || strings.Contains(text, "{oidc_client_secret secret") {
		t.Errorf("a secret is shown: %s", text)
	}
	c, _, err := Load(Source{Env: none, Flags: map[string]string{
		"public_url": "https://weir.example.org", "trusted_proxies": "10.0.0.0/8, 192.0.2.1/32", "metrics_open": "true",
		"oidc_issuer": "https://id.example.org", "oidc_client_id": "weir", "oidc_roles": "ops=admin,dev=operator",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !c.MetricsOpen || len(c.TrustedProxies) != 2 || c.OIDC.Roles["ops"] != "admin" || c.OIDC.DefaultRole != "viewer" {
		t.Errorf("got %+v", c)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "forever": Forever, "1h30m": 90 * time.Minute,
		"": 0, "0": 0, "0d": 0, "-1h": 0, "5": 0, "xd": 0, "1d1": 0, "999999999d": 0,
	} {
		got, err := ParseDuration(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
		if want != 0 {
			if again, err := ParseDuration(formatDuration(got)); err != nil || again != got {
				t.Errorf("%q prints as %q, which is %v, %v", text, formatDuration(got), again, err)
			}
		}
	}
}

func TestMaskURL(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"postgres://a@h/d":                   "postgres://a@h/d",
		"postgres://a:s3cret@h:1/d?x=y":      "postgres://a:***@h:1/d?x=y",
		"postgres://h/d?password=s3cret":     "postgres://h/d?password=***",
		"host=h password=s3cret dbname=d":    "host=h password=*** dbname=d",
		"host=h password='s3 cret' dbname=d": "host=h password=*** dbname=d",
		"postgres://a:s3cret@h:port/d":       "***",
	} {
		if got := MaskURL(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
