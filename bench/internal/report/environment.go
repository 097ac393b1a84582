package report

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Environment is what a reader needs to judge or repeat the figures.
type Environment struct {
	At         time.Time         `json:"at"`
	Cores      int               `json:"cores"`
	LoadBefore string            `json:"load_average_before"`
	LoadAfter  string            `json:"load_average_after"`
	System     string            `json:"system"`
	Go         string            `json:"go"`
	Commit     string            `json:"commit"`
	Postgres   string            `json:"postgres"`
	Private    bool              `json:"private_server"`
	Settings   map[string]string `json:"postgres_settings"`
	// Systems are the versions of the systems under test by name.
	Systems map[string]string `json:"systems"`
	Scale   float64           `json:"scale"`
	Quick   bool              `json:"quick"`
	Seconds float64           `json:"seconds"`
}

// Describe reads what the machine reports about itself.
func Describe(ctx context.Context) Environment {
	return Environment{
		At:         time.Now().UTC(),
		Cores:      runtime.NumCPU(),
		LoadBefore: LoadAverage(),
		System:     runtime.GOOS + "/" + runtime.GOARCH,
		Go:         runtime.Version(),
		Commit:     commit(ctx),
		Systems:    map[string]string{},
	}
}

// LoadAverage returns the three load averages, or nothing where there are none.
func LoadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return parseLoad(string(text))
}

// parseLoad takes the three averages from a line of /proc/loadavg.
func parseLoad(line string) string {
	fields := strings.Fields(line)
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// commit names the checked-out commit, marked when files differ from it.
func commit(ctx context.Context) string {
	id, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "none"
	}
	name := strings.TrimSpace(string(id))
	if dirty, err := exec.CommandContext(ctx, "git", "--no-optional-locks", "status", "--porcelain").Output(); err == nil && len(dirty) > 0 {
		name += "+changes"
	}
	return name
}

// Print writes the environment above the tables.
func (e Environment) Print(w io.Writer) {
	fmt.Fprintf(w, "%d cores, load %s, %s, %s, commit %s\n", e.Cores, e.LoadBefore, e.System, e.Go, e.Commit)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(e.Settings)) {
		parts = append(parts, name+"="+e.Settings[name])
	}
	fmt.Fprintf(w, "PostgreSQL %s, one server for all:", e.Postgres)
	const width = 110
	column := width
	for _, part := range parts {
		if column+len(part)+1 > width {
			fmt.Fprint(w, "\n ")
			column = 1
		}
		fmt.Fprint(w, " ", part)
		column += len(part) + 1
	}
	fmt.Fprintln(w)
	for _, name := range slices.Sorted(maps.Keys(e.Systems)) {
		fmt.Fprintf(w, "%s: %s\n", name, e.Systems[name])
	}
}
