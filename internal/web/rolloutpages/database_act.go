package rolloutpages

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// entriesPaged cuts a history to the page. After counts the entries of the pages
// before.
func entriesPaged(r *site.Request, rows []target.Entry) (page []target.Entry, newest, older string) {
	next := ""
	if len(rows) > site.PerPage {
		rows = rows[:site.PerPage]
		before, _ := strconv.Atoi(r.Query("after")) // the store refused what is no number
		next = strconv.Itoa(before + site.PerPage)
	}
	newest, older = site.Paging(r, next)
	return rows, newest, older
}

// databaseFields are a database as a form. Its address is written and never read.
func databaseFields(r *site.Request, d rollout.Database, fresh bool) []ui.Field {
	ctx := r.Context()
	dsn := ui.Field{Name: "dsn", Label: ui.Say(ctx, "form.dsn"), Type: "secret", Rows: 2, Example: "postgres://user:password@host:5432/name", Hint: ui.Say(ctx, "form.dsn.hint"), Auto: "off", Optional: true} // #nosec G101 -- the example of an address
	if !fresh {
		dsn.Hint = ui.Say(ctx, "form.dsn.keep")
	}
	return []ui.Field{
		{Name: "engine", Label: ui.Say(ctx, "databases.engine"), Type: "select", Value: d.Engine, Options: ui.Options(engines...)},
		{Name: "environment", Label: ui.Say(ctx, "databases.environment"), Value: d.Environment, Example: "test", Hint: ui.Say(ctx, "form.environment.hint"), Auto: "off"},
		dsn,
		{Name: "secret", Label: ui.Say(ctx, "database.secret"), Value: d.Secret, Optional: true, Hint: ui.Say(ctx, "form.secret.hint"), Auto: "off"},
		{Name: "labels", Label: ui.Say(ctx, "database.labels"), Value: labelsText(d.Labels), Optional: true, Example: "region=eu tier=gold", Auto: "off"},
		{Name: "note", Label: ui.Say(ctx, "database.note"), Value: d.Note, Optional: true, Auto: "off"},
	}
}

func labelsText(labels map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, k+"="+labels[k])
	}
	return strings.Join(out, " ")
}

// databaseForm reads what databaseFields asked.
func databaseForm(r *site.Request, name string) (d rollout.Database, dsn string, err error) {
	d = rollout.Database{Name: name, Engine: r.Field("engine"), Environment: r.Field("environment"), Secret: r.Field("secret"), Note: r.Field("note")}
	switch {
	case d.Name == "":
		return d, "", problem.Refuse("name", "", "give it a name")
	case d.Environment == "":
		return d, "", problem.Refuse("environment", "such as test, staging or prod", "say where it belongs")
	}
	for _, pair := range strings.Fields(r.Field("labels")) {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return d, "", problem.Refuse("labels", "write it so: region=eu tier=gold", "%q is no label", pair)
		}
		if d.Labels == nil {
			d.Labels = map[string]string{}
		}
		d.Labels[key] = value
	}
	return d, r.Field("dsn"), nil
}

func (w *pages) askNewDatabase(r *site.Request) (ui.Question, error) {
	if _, err := w.rolls(); err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	name := ui.Field{Name: "name", Label: ui.Say(ctx, "databases.name"), Example: "orders-test", Focus: true, Auto: "off"}
	return ui.Question{
		Title: ui.Say(ctx, "databases.new"), Button: ui.Say(ctx, "form.register"), Back: "/databases", Text: ui.Say(ctx, "form.database.text"),
		Fields: append([]ui.Field{name}, databaseFields(r, rollout.Database{}, true)...),
	}, nil
}

func (w *pages) createDatabase(r *site.Request) (site.Done, error) {
	store, err := w.rolls()
	if err != nil {
		return site.Done{}, err
	}
	d, dsn, err := databaseForm(r, r.Field("name"))
	if err != nil {
		return site.Done{}, err
	}
	if dsn == "" && d.Secret == "" {
		return site.Done{}, problem.Refuse("dsn", "or name a secret that has it", "give the address of the database")
	}
	if _, err := store.Database(r.Context(), d.Name); err == nil {
		return site.Done{}, problem.Refuse("name", "choose another name, or change that one", "there is a database %q already", d.Name)
	}
	return w.putDatabase(r, d, dsn, op.Matched{IfNoneMatch: "*"})
}

func (w *pages) putDatabase(r *site.Request, d rollout.Database, dsn string, m op.Matched) (site.Done, error) {
	made, err := rollout.PutDatabase.Call(r.Context(), w.Operations, &rollout.Putting{
		NamedDatabase: rollout.NamedDatabase{Database: d.Name}, Matched: m,
		Body: rollout.DatabaseBody{Engine: d.Engine, Environment: d.Environment, Labels: d.Labels, DSN: dsn, Secret: d.Secret, Note: d.Note},
	})
	if err != nil {
		return site.Done{}, err
	}
	if made.Fault != "" {
		return site.Done{To: databasePath(made.Name), Say: ui.Say(r.Context(), "said.unreached", ui.Line(made.Fault))}, nil
	}
	return site.Done{To: databasePath(made.Name), Say: ui.Say(r.Context(), "said.registered", ui.Line(made.Name))}, nil
}

// databaseOf is the database of the path.
func (w *pages) databaseOf(r *site.Request) (*rollout.Store, rollout.Database, error) {
	store, err := w.rolls()
	if err != nil {
		return nil, rollout.Database{}, err
	}
	d, err := store.Database(r.Context(), r.PathValue("database"))
	return store, d, err
}

func (w *pages) askChangeDatabase(r *site.Request) (ui.Question, error) {
	_, d, err := w.databaseOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	fields := databaseFields(r, d, false)
	return ui.Question{Title: ui.Say(r.Context(), "form.change", ui.Cut(ui.Line(d.Name), 80)), Button: ui.Say(r.Context(), "form.save"), Back: databasePath(d.Name), Fields: fields}, nil
}

func (w *pages) changeDatabase(r *site.Request) (site.Done, error) {
	d, dsn, err := databaseForm(r, r.PathValue("database"))
	if err != nil {
		return site.Done{}, err
	}
	// One that somebody removed meanwhile must not come back by this.
	return w.putDatabase(r, d, dsn, op.Matched{IfMatch: "*"})
}

func (w *pages) askDropDatabase(r *site.Request) (ui.Question, error) {
	_, d, err := w.databaseOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(r.Context(), "form.drop", ui.Cut(ui.Line(d.Name), 80)), Button: ui.Say(r.Context(), "database.remove"), Danger: true, Back: databasePath(d.Name),
		Text: ui.Say(r.Context(), "form.drop.text"),
	}, nil
}

func (w *pages) askImportHistory(r *site.Request) (ui.Question, error) {
	store, d, err := w.databaseOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	f, err := store.Foreign(r.Context(), d.Name)
	if err != nil {
		return ui.Question{}, err
	}
	if f == nil {
		return ui.Question{}, problem.New(problem.NotFound, "goose, Flyway and golang-migrate are known", "no other tool left a history in %s", d.Name)
	}
	return ui.Question{
		Title: ui.Say(r.Context(), "form.import", ui.Line(f.Tool)), Button: ui.Say(r.Context(), "database.import"), Back: databasePath(d.Name) + "/history",
		Text: ui.Say(r.Context(), "database.foreign", ui.Line(f.Tool), len(f.Entries), ui.Line(f.Table)) + ". " + ui.Say(r.Context(), "database.foreign.text"),
	}, nil
}

func (w *pages) askAdopt(r *site.Request) (ui.Question, error) {
	_, d, err := w.databaseOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(r.Context(), "form.adopt", ui.Cut(ui.Line(d.Name), 80)), Button: ui.Say(r.Context(), "database.adopt"), Danger: true, Back: databasePath(d.Name),
		Text: ui.Say(r.Context(), "form.adopt.text"), Fields: []ui.Field{{Name: "accept", Type: "hidden", Value: "true"}},
	}, nil
}

func (w *pages) askAcceptDrift(r *site.Request) (ui.Question, error) {
	_, d, err := w.databaseOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(r.Context(), "form.accept", ui.Cut(ui.Line(d.Name), 80)), Button: ui.Say(r.Context(), "database.drift.accept"), Back: databasePath(d.Name) + "/drift",
		Text: ui.Say(r.Context(), "form.accept.text"),
	}, nil
}

// removed goes back to the list.
func removed(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/databases", Say: ui.Say(r.Context(), "said.removed", ui.Line(r.PathValue("database")))}
}

// checked says how a look at a database ended.
func checked(r *site.Request, d rollout.Database) site.Done {
	if d.Fault != "" {
		return site.Done{To: databasePath(d.Name), Say: ui.Say(r.Context(), "said.unchecked", ui.Line(d.Fault))}
	}
	return site.Done{To: databasePath(d.Name), Say: ui.Say(r.Context(), "said.checked", ui.Line(d.Server))}
}

func imported(r *site.Request, taken rollout.ImportOutput) site.Done {
	return site.Done{To: databasePath(r.PathValue("database")) + "/history", Say: ui.Count(r.Context(), "said.imported", taken.Imported)}
}

func accepted(r *site.Request, report rollout.DriftReport) site.Done {
	return site.Done{To: databasePath(report.Database) + "/drift", Say: ui.Say(r.Context(), "said.accepted")}
}
