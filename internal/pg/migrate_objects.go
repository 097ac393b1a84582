package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// made is a row of weir.schema_object: a file and its objects, each as the text that DROP
// takes ("routine weir.claim(uuid,integer)", "view weir.task").
type made struct {
	file, hash string
	makes      []string
	// retired means that no version has the file any more, due that it is time to drop
	// its objects.
	retired, due bool
}

// compareObjects lists the files to apply and the files that are gone. A file counts as
// changed if its text did, or if one of its objects was dropped; the file of grants also
// if grants were lost.
func compareObjects(ctx context.Context, db querier, s *source, migrated bool, status *Status) (err error) {
	var known []made
	present := map[string]string{}
	if migrated {
		if known, err = madeObjects(ctx, db); err != nil {
			return err
		}
		if present, err = presentObjects(ctx, db); err != nil {
			return err
		}
	}
	var changed []string
	for _, o := range s.objects {
		i := slices.IndexFunc(known, func(k made) bool { return k.file == o.file })
		missing := func(what string) bool { return present[what] == "" }
		if i < 0 || known[i].hash != o.hash || known[i].retired || slices.ContainsFunc(known[i].makes, missing) {
			changed = append(changed, o.file)
		}
	}
	for _, k := range known {
		switch {
		case k.file == grantsFile || slices.ContainsFunc(s.objects, func(o object) bool { return o.file == k.file }):
		case k.due:
			status.Retired = append(status.Retired, k.file)
		case !k.retired:
			status.Removed = append(status.Removed, k.file)
		}
	}
	if s.grants != nil {
		same := slices.ContainsFunc(known, func(k made) bool { return k.file == grantsFile && k.hash == s.grants.hash })
		again := !same || len(changed) > 0
		if !again {
			if again, err = ungranted(ctx, db); err != nil {
				return err
			}
		}
		if again {
			changed = append(changed, grantsFile)
		}
	}
	status.Changed = changed
	return nil
}

// ungranted reports whether grants were lost, as by a dump that was loaded where the
// roles do not exist. The function weir._ungranted checks it; a schema without it, or a
// caller who may not call it, counts as complete.
func ungranted(ctx context.Context, db querier) (lost bool, err error) {
	var able bool
	err = db.QueryRow(ctx, `
		select coalesce(bool_or(has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')), false)
		from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
		where n.nspname = 'weir' and p.proname = '_ungranted'`).Scan(&able)
	if err != nil || !able {
		return false, err
	}
	err = db.QueryRow(ctx, `select exists (select from weir._ungranted())`).Scan(&lost)
	return lost, err
}

func madeObjects(ctx context.Context, db querier) ([]made, error) {
	// By name and not as a column, because a database of an older version has none.
	rows, err := db.Query(ctx, `
		select o.file, o.hash, o.makes, r.at is not null, coalesce(r.at < now() - interval '7 days', false)
		from weir.schema_object o, lateral (select (to_jsonb(o) ->> 'retired_at')::timestamptz) r (at) order by o.file`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m made, err error) {
		err = row.Scan(&m.file, &m.hash, &m.makes, &m.retired, &m.due)
		return m, err
	})
}

// presentObjects returns the routines and views of our schemas, each with a mark that
// changes whenever the object is written. If names are given, with their schema, only
// those are returned.
func presentObjects(ctx context.Context, db querier, names ...string) (map[string]string, error) {
	bare, routine, view := []string{}, "true", "true"
	for _, name := range names {
		_, name, _ = strings.Cut(name, ".")
		bare, routine, view = append(bare, name), "p.proname = any ($1)", "c.relname = any ($1)" // by their indexes
	}
	rows, err := db.Query(ctx, fmt.Sprintf(`
		select format('routine %%I.%%I(%%s)', n.nspname, p.proname, (
		         select string_agg(format('%%I.%%I', tn.nspname, t.typname), ',' order by a.ord)
		         from unnest(p.proargtypes) with ordinality a(oid, ord)
		         join pg_catalog.pg_type t on t.oid = a.oid
		         join pg_catalog.pg_namespace tn on tn.oid = t.typnamespace)),
		       p.oid::text || p.ctid::text
		from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
		where n.nspname in ('weir', 'flow', 'fleet') and %s and $1::text[] is not null
		union all
		select format('view %%I.%%I', n.nspname, c.relname), c.oid::text || c.ctid::text
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('weir', 'flow', 'fleet') and c.relkind = 'v' and %s`, routine, view), bare)
	if err != nil {
		return nil, err
	}
	present := map[string]string{}
	var what, mark string
	_, err = pgx.ForEachRow(rows, []any{&what, &mark}, func() error {
		present[what] = mark
		return nil
	})
	return present, err
}

// applyObjects applies the changed files. A newer version also retires the files that it
// no longer has, and drops objects that were retired long ago.
//
// Files may need each other in any order (a function that returns rows of a view, a view
// that calls a function), so a file that lacks something waits for the next round; a
// round without progress is the error. Bodies are checked in a second step, when
// everything they may call exists.
func applyObjects(ctx context.Context, tx pgx.Tx, s *source, status Status, report *Report) error {
	if status.unnumbered {
		if err := runScript(ctx, tx, objectVersionTable); err != nil {
			return err
		}
	}
	known, err := madeObjects(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `set local check_function_bodies = off`); err != nil {
		return err
	}
	a := applier{tx: tx, known: known}
	var waiting []object
	for _, o := range s.objects {
		if slices.Contains(status.Changed, o.file) {
			waiting = append(waiting, o)
		}
	}
	files := waiting
	for len(waiting) > 0 {
		rest, missing := a.round(ctx, waiting)
		if len(rest) == len(waiting) {
			return missing
		}
		waiting = rest
	}
	if report.Dropped, err = a.dropStale(ctx); err != nil {
		return err
	}
	if status.plan() == raise {
		if err := a.retire(ctx, status, report); err != nil {
			return err
		}
	}
	if err := a.check(ctx, files); err != nil {
		return err
	}
	if slices.Contains(status.Changed, grantsFile) {
		if err := a.apply(ctx, *s.grants); err != nil {
			return locate(*s.grants, err)
		}
	}
	report.Objects = status.Changed
	_, err = tx.Exec(ctx, `
		insert into weir.object_version as v (version, hash) values ($1, $2)
		on conflict (version) do update set hash = excluded.hash, applied_at = now()`, s.version, s.hash)
	return err
}

type applier struct {
	tx    pgx.Tx
	known []made
	stale []string // made by an earlier text of a file, not by the present one
}

// round applies the files that it can. It returns the files that must wait and why the
// first of them does. An error that waiting cannot cure stops the round; the caller
// recognizes it because no file was applied.
func (a *applier) round(ctx context.Context, files []object) (rest []object, why error) {
	for _, o := range files {
		err := a.apply(ctx, o)
		if err == nil {
			continue
		}
		if !codeIn(err, "42P01", "42883", "42704", "42703") { // undefined table, function, object, column
			return files, locate(o, err)
		}
		if rest = append(rest, o); why == nil {
			why = locate(o, err)
		}
	}
	return rest, why
}

// apply runs one file. If the new text cannot replace the old (other result type or
// argument names) or would stand beside it (other arguments), the objects of the old text
// are dropped first; PostgreSQL refuses that while something else depends on them.
func (a *applier) apply(ctx context.Context, o object) error {
	var old []string
	if i := slices.IndexFunc(a.known, func(k made) bool { return k.file == o.file }); i >= 0 {
		old = a.known[i].makes
	}
	makes, err := a.execute(ctx, o, nil)
	if codeIn(err, "42P13", "42725") { // invalid function definition, ambiguous function
		makes, err = a.execute(ctx, o, routines(old))
	}
	if err != nil {
		return err
	}
	for _, what := range old {
		if !slices.Contains(makes, what) {
			a.stale = append(a.stale, what)
		}
	}
	_, err = a.tx.Exec(ctx, `
		insert into weir.schema_object as o (file, hash, makes) values ($1, $2, $3)
		on conflict (file) do update set hash = excluded.hash, makes = excluded.makes, applied_at = now(), retired_at = null`,
		o.file, o.hash, makes)
	return err
}

// execute runs the file in a savepoint, after dropping first, and returns its objects:
// those of its names that it wrote.
func (a *applier) execute(ctx context.Context, o object, first []string) ([]string, error) {
	savepoint, err := a.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	makes, err := func() ([]string, error) {
		if err := drop(ctx, savepoint, first); err != nil {
			return nil, err
		}
		before, err := presentObjects(ctx, savepoint, o.names...)
		if err != nil {
			return nil, err
		}
		if err := runScript(ctx, savepoint, o.text); err != nil {
			return nil, err
		}
		after, err := presentObjects(ctx, savepoint, o.names...)
		if err != nil {
			return nil, err
		}
		makes := []string{}
		for what, mark := range after {
			if before[what] != mark && slices.Contains(o.names, nameOf(what)) {
				makes = append(makes, what)
			}
		}
		slices.Sort(makes)
		return makes, nil
	}()
	if err != nil {
		return nil, errors.Join(err, savepoint.Rollback(context.WithoutCancel(ctx)))
	}
	return makes, savepoint.Commit(ctx)
}

// dropStale drops objects that changed files no longer make, because a call could not
// choose between a function and one of its name with more arguments.
func (a *applier) dropStale(ctx context.Context) ([]string, error) {
	gone, err := a.unmade(ctx, a.stale)
	if err != nil {
		return nil, err
	}
	if err := drop(ctx, a.tx, gone); err != nil {
		return nil, fmt.Errorf("drop what no file makes any more: %w", explain(err))
	}
	return gone, nil
}

// retire records which files are gone. Their objects stay for a while, because servers of
// the version before still call them, and may be put back. After a week the next version
// drops them, unless something of a user depends on them.
func (a *applier) retire(ctx context.Context, status Status, report *Report) error {
	if _, err := a.tx.Exec(ctx, `update weir.schema_object set retired_at = now() where file = any($1)`, status.Removed); err != nil {
		return err
	}
	report.Retired = status.Removed
	for _, k := range slices.Backward(a.known) { // views before the functions that they call
		if !slices.Contains(status.Retired, k.file) {
			continue
		}
		gone, err := a.dropRetired(ctx, k)
		if codeIn(err, "2BP01") { // dependent objects still exist
			continue
		}
		if err != nil {
			return fmt.Errorf("drop what %s made: %w", k.file, explain(err))
		}
		report.Dropped = append(report.Dropped, gone...)
	}
	return nil
}

func (a *applier) dropRetired(ctx context.Context, k made) (gone []string, err error) {
	err = pgx.BeginFunc(ctx, a.tx, func(savepoint pgx.Tx) error {
		if _, err := savepoint.Exec(ctx, `delete from weir.schema_object where file = $1`, k.file); err != nil {
			return err
		}
		if gone, err = a.unmade(ctx, k.makes); err != nil {
			return err
		}
		return drop(ctx, savepoint, gone)
	})
	return gone, err
}

// unmade returns those of the objects that exist and that no file makes, views first,
// because they may use the routines. An object that moved to another file is still made.
func (a *applier) unmade(ctx context.Context, objects []string) ([]string, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	remaining, err := madeObjects(ctx, a.tx)
	if err != nil {
		return nil, err
	}
	present, err := presentObjects(ctx, a.tx)
	if err != nil {
		return nil, err
	}
	gone := slices.DeleteFunc(slices.Clone(objects), func(what string) bool {
		elsewhere := slices.ContainsFunc(remaining, func(k made) bool { return slices.Contains(k.makes, what) })
		return elsewhere || present[what] == ""
	})
	slices.SortFunc(gone, func(a, b string) int { return strings.Compare(b, a) }) // "view …" before "routine …"
	return gone, nil
}

// check makes the routines once more with their bodies checked, so that a function in SQL
// that names a missing column fails here and not in front of a user.
func (a *applier) check(ctx context.Context, files []object) error {
	if _, err := a.tx.Exec(ctx, `set local check_function_bodies = on`); err != nil {
		return err
	}
	for _, o := range files {
		if !strings.HasPrefix(o.file, "functions/") {
			continue
		}
		if err := runScript(ctx, a.tx, o.text); err != nil {
			return locate(o, err)
		}
	}
	return nil
}

func drop(ctx context.Context, tx pgx.Tx, objects []string) error {
	for _, what := range objects {
		if _, err := tx.Exec(ctx, "drop "+strings.Replace(what, " ", " if exists ", 1)); err != nil {
			return err
		}
	}
	return nil
}

// runScript runs statements separated by semicolons, as psql would.
func runScript(ctx context.Context, tx pgx.Tx, text string) error {
	return tx.Conn().PgConn().Exec(ctx, text).Close()
}

func routines(objects []string) []string {
	return slices.DeleteFunc(slices.Clone(objects), func(what string) bool { return !strings.HasPrefix(what, "routine ") })
}

// nameOf returns weir.claim for "routine weir.claim(uuid)" and flow.jobs for "view
// flow.jobs".
func nameOf(what string) string {
	_, name, _ := strings.Cut(what, " ")
	name, _, _ = strings.Cut(name, "(")
	return name
}

func codeIn(err error, codes ...string) bool {
	pgErr := new(pgconn.PgError)
	return errors.As(err, &pgErr) && slices.Contains(codes, pgErr.Code)
}

// locate adds the file and line to an error of the server.
func locate(o object, err error) error {
	where := o.file
	if pgErr := new(pgconn.PgError); errors.As(err, &pgErr) && pgErr.Position > 0 && int(pgErr.Position) <= len(o.text) {
		where = fmt.Sprintf("%s:%d", o.file, 1+strings.Count(o.text[:pgErr.Position], "\n"))
	}
	return fmt.Errorf("%s: %w", where, explain(err))
}

// explain adds the server's detail, and advice for the two refusals that come from rules
// of ours.
func explain(err error) error {
	pgErr := new(pgconn.PgError)
	if !errors.As(err, &pgErr) {
		return err
	}
	advice := ""
	if pgErr.Detail != "" {
		advice = " (" + pgErr.Detail + ")"
	}
	switch pgErr.Code {
	case "42P16":
		advice += ". Columns of a view are only ever added at its end; to change others, drop the view in a migration"
	case "2BP01":
		advice += ". Drop what depends on it in a migration"
	}
	return fmt.Errorf("%w%s", err, advice)
}
