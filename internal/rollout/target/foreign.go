package target

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

// Foreign is the history that another tool left in the target.
type Foreign struct {
	// Tool is goose, flyway or golang-migrate; Table is where it was found.
	Tool    string         `json:"tool"`
	Table   string         `json:"table"`
	Entries []ForeignEntry `json:"entries"`
	// Fault says why it must not be imported as it is, if so.
	Fault string `json:"fault,omitempty"`
}

// ForeignEntry is one row of it, oldest first.
type ForeignEntry struct {
	// Version is in its shortest form; empty: a repeatable script.
	Version string `json:"version,omitempty"`
	Name    string `json:"name"`
	// Baseline: everything up to this version is applied.
	Baseline  bool      `json:"baseline,omitempty"`
	AppliedAt time.Time `json:"applied_at,omitzero"`
	Note      string    `json:"note,omitempty"`
}

// The tools whose tables are known, in the order in which they are looked for.
const (
	gooseTable   = "goose_db_version"
	flywayTable  = "flyway_schema_history"
	migrateTable = "schema_migrations"
)

// Foreign looks for the tables of other tools.
func (b *base) Foreign(ctx context.Context) (f *Foreign, err error) {
	err = b.look(ctx, func(s session) error {
		if f, err = s.foreign(ctx); err != nil {
			return read(b.engine, "read the history of another tool", err)
		}
		return nil
	})
	return f, err
}

// Import takes over what is not there yet. Another tool's checksums are of
// another kind, so the rows have none: the files are taken as they are.
func (b *base) Import(ctx context.Context, f Foreign, by string) (n int, err error) {
	if f.Fault != "" {
		return 0, &Failure{Code: CodeDirty, What: f.Table + ": " + f.Fault, Next: "Bring it in order with " + f.Tool + " first."}
	}
	err = b.settle(ctx, "import the history of "+f.Tool, func(s session) error {
		l := s.ledger()
		list, err := l.history(ctx)
		if err != nil {
			return err
		}
		has := map[string]bool{}
		for _, e := range list {
			has[e.Version+"\n"+e.Name] = true
			if e.Version != "" {
				has[e.Version] = true
			}
		}
		for _, e := range f.Entries {
			if has[e.Version+"\n"+e.Name] || e.Version != "" && has[e.Version] {
				continue
			}
			kind := string(script.DDL)
			if e.Baseline {
				kind = KindBaseline
			}
			note := fmt.Sprintf("imported from %s", f.Table)
			if !e.AppliedAt.IsZero() {
				note += ", applied " + e.AppliedAt.UTC().Format(time.RFC3339)
			}
			if e.Note != "" {
				note += ", " + e.Note
			}
			if err := l.record(ctx, Entry{Version: e.Version, Name: e.Name, Kind: kind, By: by, Note: note}); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// canonical is a version of another tool in our form, or as it is.
func canonical(version string) string {
	if short, err := script.Canonical(version); err == nil {
		return short
	}
	return version
}

// readForeign reads the tables of other tools: their columns are the same on
// both engines. Columns gives those of a table in the session's schema, none if
// it is not there.
func readForeign(ctx context.Context, w wire, columns func(table string) (map[string]bool, error)) (*Foreign, error) {
	for _, one := range []struct {
		table, column string
		read          func(context.Context, wire) (*Foreign, error)
	}{
		{gooseTable, "version_id", readGoose},
		{flywayTable, "installed_rank", readFlyway},
		{migrateTable, "dirty", readMigrate},
	} {
		found, err := columns(one.table)
		if err != nil {
			return nil, err
		}
		if !found[one.column] { // schema_migrations is a name that others use too
			continue
		}
		return one.read(ctx, w)
	}
	return nil, nil
}

func readGoose(ctx context.Context, w wire) (*Foreign, error) {
	f := &Foreign{Tool: "goose", Table: gooseTable}
	// The newest row of a version says whether it is applied.
	applied := map[int64]ForeignEntry{}
	var order []int64
	err := w.query(ctx, `select version_id, is_applied, tstamp from goose_db_version order by id`, nil, func(scan func(...any) error) error {
		var version int64
		var is bool
		var at *time.Time
		if err := scan(&version, &is, &at); err != nil {
			return err
		}
		delete(applied, version)
		if !is || version == 0 {
			return nil
		}
		e := ForeignEntry{Version: canonical(fmt.Sprint(version)), Name: fmt.Sprintf("goose %d", version)}
		if at != nil {
			e.AppliedAt = *at
		}
		applied[version] = e
		order = append(order, version)
		return nil
	})
	for _, version := range order {
		if e, ok := applied[version]; ok {
			f.Entries = append(f.Entries, e)
			delete(applied, version)
		}
	}
	return f, err
}

func readFlyway(ctx context.Context, w wire) (*Foreign, error) {
	f := &Foreign{Tool: "flyway", Table: flywayTable}
	err := w.query(ctx, `select coalesce(version, ''), description, type, installed_on, success from flyway_schema_history order by installed_rank`, nil, func(scan func(...any) error) error {
		var version, name, kind string
		var at time.Time
		var success bool
		if err := scan(&version, &name, &kind, &at, &success); err != nil {
			return err
		}
		switch {
		case !success:
			f.Fault = fmt.Sprintf("version %s (%s) failed", version, name)
		case kind == "SCHEMA" || kind == "DELETE":
		case len(kind) > 5 && kind[:5] == "UNDO_":
			f.remove(canonical(version))
		case version == "":
			f.Entries = append(f.Entries, ForeignEntry{Name: name, AppliedAt: at})
		default:
			f.Entries = append(f.Entries, ForeignEntry{Version: canonical(version), Name: name, Baseline: kind == "BASELINE", AppliedAt: at})
		}
		return nil
	})
	return f, err
}

func (f *Foreign) remove(version string) {
	kept := f.Entries[:0]
	for _, e := range f.Entries {
		if e.Version != version {
			kept = append(kept, e)
		}
	}
	f.Entries = kept
}

// readMigrate reads the one row of golang-migrate: everything up to it is applied.
func readMigrate(ctx context.Context, w wire) (*Foreign, error) {
	f := &Foreign{Tool: "golang-migrate", Table: migrateTable}
	err := w.query(ctx, `select version, dirty from schema_migrations`, nil, func(scan func(...any) error) error {
		var version int64
		var dirty bool
		if err := scan(&version, &dirty); err != nil {
			return err
		}
		if dirty {
			f.Fault = fmt.Sprintf("version %d is dirty: it failed half-way", version)
		}
		f.Entries = append(f.Entries, ForeignEntry{Version: canonical(fmt.Sprint(version)), Name: fmt.Sprintf("golang-migrate %d", version), Baseline: true})
		return nil
	})
	return f, err
}
