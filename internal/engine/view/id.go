package view

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/refusal"
)

// suffixLeast is how much of an id's end must be given.
const suffixLeast = 6

var suffixForm = regexp.MustCompile(`^[0-9a-f-]+$`)

// Where an end of an id is looked for. No index has it: one would be paid for by
// every task, and only what somebody has just seen in a list is asked for by its
// end. 15,000 ids take 50 ms, found or not.
const (
	taskEnds = `select s.id from (select q.id from weir.tasks q order by q.id desc limit 20000) s
		union all select s.id from (select p.task as id from weir.pending p order by p.task desc limit 5000) s
		union all select s.id from (select a.task as id from weir.available a limit 5000) s
		union all select s.id from (select r.task as id from weir.running r order by r.task desc limit 5000) s
		union all select s.id from (select f.task as id from weir.finished f where f.outcome = 'failed' order by f.task desc limit 5000) s`
	jobEnds = `select s.id from (select j.id from weir.jobs j order by j.id desc limit 20000) s
		union all select s.id from (select l.job as id from weir.job_live l order by l.job desc limit 5000) s
		union all select s.id from (select f.job as id from weir.job_finished f where f.outcome = 'failed' order by f.job desc limit 5000) s`
)

// TaskID reads the id of a task, whole or its end. The beginning of an id is
// the time, which many share; its end is random. An end is looked for among the
// newest 20,000 tasks and the newest 5,000 that wait, run or failed.
func (s *Store) TaskID(ctx context.Context, text string) (weir.ID, error) {
	return s.resolve(ctx, "task", taskEnds, text)
}

// JobID reads the id of a job, whole or its end. An end is looked for among the
// newest 20,000 jobs and the newest 5,000 that live or failed.
func (s *Store) JobID(ctx context.Context, text string) (weir.ID, error) {
	id, err := s.resolve(ctx, "job", jobEnds, text)
	if err != nil || id.String()[14] == '7' {
		return id, err
	}
	// A client of plain SQL gave it.
	var ours weir.ID
	err = s.pool.QueryRow(ctx, `select weir._job_of($1)`, id).Scan(&ours)
	return ours, err
}

func (s *Store) resolve(ctx context.Context, what, among, text string) (weir.ID, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if id, err := weir.ParseID(text); err == nil {
		return id, nil
	}
	if !isEnd(text) {
		return weir.ID{}, refuse("", "%q is not the id of a %s: give the whole id, or at least its last %d characters", text, what, suffixLeast)
	}
	ids, err := s.ending(ctx, "find "+what, among, text)
	switch {
	case err != nil:
		return weir.ID{}, err
	case len(ids) == 0:
		return weir.ID{}, missing(refusal.NoEnd, what, text)
	case len(ids) > 1:
		return weir.ID{}, refuse("", "several ids end in %s, such as %s and %s: give more of it", text, ids[0], ids[1])
	}
	return ids[0], nil
}

// isEnd says that text may be the end of an id, long enough to mean one.
func isEnd(text string) bool {
	return suffixForm.MatchString(text) && len(strings.ReplaceAll(text, "-", "")) >= suffixLeast && len(text) <= 36
}

// ending lists ids that end so. The database compares whole bytes, which is ten
// times as fast as text.
func (s *Store) ending(ctx context.Context, op, among, end string) ([]weir.ID, error) {
	digits := strings.ReplaceAll(end, "-", "")
	last, err := hex.DecodeString(digits[len(digits)%2:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	ids, err := inOrder(ctx, s, op, `select distinct s.id from (`+among+`) s where substr(uuid_send(s.id), $1) = $2 limit 100`, []any{17 - len(last), last}, idInto)
	return slices.DeleteFunc(ids, func(id weir.ID) bool { return !strings.HasSuffix(id.String(), end) }), err
}
