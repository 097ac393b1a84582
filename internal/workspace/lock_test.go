package workspace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// words make a workspace for each overlap below and give its name, its operation and the
// key of its archive for statements, and the time.
func (d *desk) words() *strings.Replacer {
	d.Helper()
	names := []string{"{t}", "timestamptz '" + d.now.Format(time.RFC3339Nano) + "'"}
	add := func(word, value string) { names = append(names, "{"+word+"}", "'"+value+"'") }
	for _, name := range []string{"wanted", "busy", "patched", "seen", "used", "idle"} {
		add(name, d.standing(name).String())
	}
	// These are being archived.
	for _, name := range []string{"archived", "ended", "resumed", "back"} {
		id := d.standing(name)
		d.want(id, ladder.Archived)
		op := d.begin(id, ladder.Archiving)
		add(name, id.String())
		add(name+".op", op.String())
		add(name+".key", d.key(id, *op))
	}
	broken := d.standing("broken")
	add("broken", broken.String())
	d.exec(`update weir.workspaces set error_reason = 'ActionFailed', error_count = 1 where id = $1`, broken)
	d.exec(`select weir.workspace_unknown('{process}', 'it does not answer', at => $1)`, d.now)
	return strings.NewReplacer(names...)
}

// What is decided about a workspace is decided on its row as it is, and not as it was
// before somebody who is just committing.
func TestWorkspacesAreJudgedUnderTheirLock(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.db.Play(t, d.words(),
		testdb.Overlap{
			Name: "an operation begins, something else is wanted", Code: "WR409",
			First:  `select weir.workspace_begin({wanted}, 'STARTING', (select generation from weir.workspaces where id = {wanted}), at => {t})`,
			Second: `select weir.workspace_want({wanted}, 'ARCHIVED', at => {t})`,
		},
		testdb.Overlap{
			Name: "it is deleted, it is busy", Code: "WR404",
			First:  `select weir.workspace_want({busy}, 'DELETED', at => {t})`,
			Second: `select weir.workspace_busy({busy}, '1 h', at => {t})`,
		},
		testdb.Overlap{
			Name:   "two change different fields",
			First:  `select weir.workspace_patch({patched}, '{"name": "renamed"}', at => {t})`,
			Second: `select weir.workspace_patch({patched}, '{"description": "told"}', at => {t})`,
			Then:   `select (name, description) = ('renamed', 'told') from weir.workspaces where id = {patched}`,
		},
		testdb.Overlap{
			Name:   "two recover it",
			First:  `select weir.workspace_recover({broken}, at => {t})`,
			Second: `select weir.workspace_recover({broken}, at => {t})`,
			Then:   `select count(*) = 1 from weir.events where kind = 'workspace' and subject = {broken} and type = 'recovered'`,
		},
		testdb.Overlap{
			Name:   "it is mounted, its archive is verified",
			First:  `select weir.workspace_see(jsonb_build_array(jsonb_build_object('id', w.id, 'conditions', w.conditions, 'phase', w.phase, 'mounted', w.mounted + 1, 'generation', w.generation)), at => {t}) from weir.workspaces w where w.id = {archived}`,
			Second: `select weir.workspace_archived({archived}, {archived.op}, {archived.key}, '{"format": 1, "sha256": "x", "size": 1, "entries": 1, "bytes": 0}', 0, at => {t})`,
			Then:   `select archive_key is null from weir.workspaces where id = {archived}`,
		},
		testdb.Overlap{
			Name:   "two say that an operation is complete",
			First:  `select weir.workspace_end({ended}, {ended.op}, at => {t})`,
			Second: `select weir.workspace_end({ended}, {ended.op}, at => {t})`,
			Then:   `select count(*) = 1 from weir.events where kind = 'workspace' and subject = {ended} and type = 'completed' and data ->> 'op_id' = {ended.op}`,
		},
		testdb.Overlap{
			Name:   "two tell of use, the earlier one later",
			First:  `select weir.workspace_touch(array[{used}]::uuid[], array[{t} + interval '10 s'], '{http}')`,
			Second: `select weir.workspace_touch(array[{used}]::uuid[], array[{t} + interval '5 s'], '{http}')`,
			Then:   `select last_access_at = {t} + interval '10 s' from weir.workspaces where id = {used}`,
		},
		testdb.Overlap{
			Name:   "a look from before it was mounted again",
			First:  `select weir.workspace_see(jsonb_build_array(jsonb_build_object('id', w.id, 'conditions', w.conditions, 'phase', w.phase, 'mounted', 5, 'generation', w.generation)), at => {t}) from weir.workspaces w where w.id = {seen}`,
			Second: `select weir.workspace_see(jsonb_build_array(jsonb_build_object('id', w.id, 'conditions', w.conditions, 'phase', w.phase, 'mounted', 4, 'generation', w.generation)), at => {t}) from weir.workspaces w where w.id = {seen}`,
			Then:   `select mounted = 5 from weir.workspaces where id = {seen}`,
		},
		testdb.Overlap{
			Name:   "an operation ends, a new leader goes on with all",
			First:  `select weir.workspace_end({resumed}, {resumed.op}, at => {t})`,
			Second: `select weir.workspace_resume(at => {t})`,
			Then:   `select op_progress_at is null from weir.workspaces where id = {resumed}`,
		},
		testdb.Overlap{
			Name:   "an operation ends, a provider can be seen again",
			First:  `select weir.workspace_end({back}, {back.op}, at => {t})`,
			Second: `select weir.workspace_unknown('{}', at => {t})`,
			Then:   `select op_progress_at is null from weir.workspaces where id = {back}`,
		},
		testdb.Overlap{
			Name:   "two change different parts of the policy",
			First:  `select weir.set_workspace_policy('{"per_user": 7}', at => {t})`,
			Second: `select weir.set_workspace_policy('{"in_all": 9}', at => {t})`,
			Then:   `select (per_user, in_all) = (7, 9) from weir.workspace_policy`,
		},
		testdb.Overlap{
			Name:   "it is used, its time is over",
			Passes: true,
			First:  `select weir.workspace_touch(array[{idle}]::uuid[], array[{t} + interval '100 days'], '{http}')`,
			Second: `select weir.workspace_expire(at => {t} + interval '100 days')`,
			Then:   `select desired = 'STANDBY' from weir.workspaces where id = {idle}`,
		},
	)
}

// What is over is swept by whoever makes a code, and nobody waits for another one who does.
func TestNobodyWaitsForWhoSweeps(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("w")
	words := strings.NewReplacer("{w}", "'"+id.String()+"'", "{ann}", "'"+d.owner.String()+"'", "{t}", "timestamptz '"+d.now.Format(time.RFC3339Nano)+"'")
	d.exec(words.Replace(`select weir.workspace_code_make({w}, {ann}, sha256('old'), 'h', at => {t} - interval '1 h')`))
	d.exec(words.Replace(`insert into weir.workspace_visits (hash, workspace, user_id, role, host, created_at, expires_at) values (sha256('old'), {w}, {ann}, 'operator', 'h', {t} - interval '2 h', {t} - interval '1 h')`))
	for _, table := range []string{"codes", "visits"} {
		d.db.Play(t, words, testdb.Overlap{
			Name: table, Passes: true,
			First:  `select from weir.workspace_` + table + ` where hash = sha256('old') for update`,
			Second: `select weir.workspace_code_make({w}, {ann}, sha256('new'), 'h', at => {t})`,
		})
	}
}
