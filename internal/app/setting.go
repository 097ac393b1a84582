package app

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// setting is one line of the configuration: how it is called, what it means
// and where it goes.
type setting struct {
	// name is the key in the file. WEIR_NAME is its variable, --na-me its flag.
	name   string
	help   string
	def    func() string
	secret bool
	// get gives "" for a setting that is not set.
	get func(*Config) string
	set func(*Config, string) error
}

func (s *setting) env() string  { return "WEIR_" + strings.ToUpper(s.name) }
func (s *setting) flag() string { return strings.ReplaceAll(s.name, "_", "-") }

func fixed(s string) func() string { return func() string { return s } }

// settings are all there is, in the order people read them.
var settings = []setting{
	text("database_url", "PostgreSQL to use; empty: Weir runs its own in the data folder", nil, func(c *Config) *string { return &c.DatabaseURL }).hidden(),
	text("data", "data folder", defaultData, func(c *Config) *string { return &c.Data }),
	text("listen", "address for HTTP", fixed("127.0.0.1:8470"), func(c *Config) *string { return &c.Listen }),
	text("postgres_bin", "folder with the programs of PostgreSQL; empty: look for them", nil, func(c *Config) *string { return &c.PostgresBin }),
	text("log_format", "text or json", fixed("text"), func(c *Config) *string { return &c.LogFormat }),
	text("log_level", "debug, info, warn or error", fixed("warn"), func(c *Config) *string { return &c.LogLevel }),
	duration("retention", "how long history is kept: 720h, 30d or forever", "30d", func(c *Config) *time.Duration { return &c.Retention }),
	number("partition_days", "days that one partition of the history spans", "7", func(c *Config) *int { return &c.PartitionDays }),
	text("events_export", "folder to write the timeline to before it is dropped", nil, func(c *Config) *string { return &c.EventsExport }),
	text("node_name", "name of this machine", hostname, func(c *Config) *string { return &c.NodeName }),
	duration("coordinator_ttl", "how long a leader may be silent before another takes over", "15s", func(c *Config) *time.Duration { return &c.CoordinatorTTL }),
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

func (s setting) hidden() setting {
	s.secret = true
	return s
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// ParseDuration reads what Go reads, days ("30d", "1d12h") and "forever".
func ParseDuration(s string) (time.Duration, error) {
	if s == "forever" {
		return Forever, nil
	}
	rest, days := s, 0
	if before, after, found := strings.Cut(s, "d"); found {
		n, err := strconv.Atoi(before)
		if err != nil || n < 0 || n > 100_000 {
			return 0, fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", s)
		}
		days, rest = n, after
	}
	d := time.Duration(0)
	if rest != "" || days == 0 {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", s)
		}
	}
	if d += time.Duration(days) * 24 * time.Hour; d <= 0 {
		return 0, fmt.Errorf("%q is not a positive duration", s)
	}
	return d, nil
}

func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d == Forever {
		return "forever"
	}
	if d > 0 && d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = strings.TrimSuffix(s, zero[1:])
		}
	}
	return s
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
