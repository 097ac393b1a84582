package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet/junit"
)

// Result is what one run of a job left.
type Result struct {
	Unit    int     `json:"unit"`
	Round   int     `json:"round"`
	State   string  `json:"state"`
	Device  string  `json:"device,omitempty"`
	PC      string  `json:"pc,omitempty"`
	Task    weir.ID `json:"task,omitzero"`
	Attempt int     `json:"attempt"`
	Cause   string  `json:"cause,omitempty"`
	// Result is what the program printed as ::result.
	Result    json.RawMessage `json:"result,omitempty"`
	Tests     *Tests          `json:"tests,omitempty" doc:"Of its JUnit files; left out: it left none."`
	StartedAt *time.Time      `json:"started_at,omitempty"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
}

// Said is the result, or without one what went wrong.
func (r Result) Said() string {
	if len(r.Result) > 0 {
		return string(r.Result)
	}
	return r.Cause
}

// Unread says which JUnit files of the run were refused, and why.
func (r Result) Unread() string {
	if r.Tests == nil || r.Tests.Fault == "" {
		return ""
	}
	return "JUnit: " + r.Tests.Fault
}

// Tests is what the JUnit files of a run say together.
type Tests struct {
	junit.Report
	// Fault says which files could not be read, and why.
	Fault string `json:"fault,omitempty" doc:"Which files could not be read, and why."`
}

// FailedCase is a case that failed on some devices.
type FailedCase struct {
	Suite string `json:"suite,omitempty"`
	Name  string `json:"name"`
	// Devices is on how many devices it failed, Runs in how many runs; On are the first
	// devices.
	Devices int      `json:"devices"`
	Runs    int      `json:"runs"`
	On      []string `json:"on"`
	// Message is what one of them said.
	Message string `json:"message,omitempty"`
}

// Results lists what the runs of a job left, by unit. page.After is the last unit of the
// previous page.
func (s *Store) Results(ctx context.Context, id weir.ID, f UnitFilter, page view.Page) ([]Result, error) {
	after, err := numberAfter(page.After)
	if err != nil {
		return nil, err
	}
	list, err := s.results(ctx, id, f, after, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list results of fleet job: %w", err)
	}
	return list, nil
}

// Cases lists the cases of a job that failed, those of most devices first.
func (s *Store) Cases(ctx context.Context, id weir.ID, most int) ([]FailedCase, error) {
	list, err := s.cases(ctx, id, view.Page{Limit: most}.Most())
	if err != nil {
		return nil, fmt.Errorf("list failed cases of fleet job: %w", err)
	}
	return list, nil
}

// reportsAtOnce is how many reports one tick reads.
const reportsAtOnce = 20

// unread is a report of tests that was uploaded.
type unread struct {
	ID          int64
	Bucket, Key string
	Size        int64
	At          time.Time
}

// reports reads reports of tests. One that cannot be read stops no other: if it is bad it
// is never read again, if the bucket is away it is tried again.
func (l *leader) reports(ctx context.Context, _ time.Time) (more bool, err error) {
	rows, err := l.pool.Query(ctx, unreadSQL, reportsAtOnce)
	if err != nil {
		return false, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[unread])
	if err != nil {
		return false, err
	}
	for _, u := range list {
		if err := l.read(ctx, u); err != nil {
			return false, err
		}
	}
	return len(list) == reportsAtOnce, nil
}

func (l *leader) read(ctx context.Context, u unread) error {
	var wrote bool
	fault := ""
	switch {
	case u.Bucket != l.bucket.Name():
		fault = "it lies in another bucket"
	case u.Size > junit.BytesMost:
		fault = fmt.Sprintf("it is over %d MB", junit.BytesMost>>20)
	}
	var report junit.Report
	if fault == "" {
		text, err := l.content(ctx, u.Key)
		if err != nil {
			return l.term.QueryRow(ctx, l.pool, laterSQL, []any{u.ID, u.At, err.Error()}, &wrote)
		}
		if report, err = junit.Parse(text); err != nil {
			fault = err.Error()
		}
	}
	said, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return l.term.QueryRow(ctx, l.pool, readSQL, []any{u.ID, u.At, said, fault}, &wrote)
}

func (l *leader) content(ctx context.Context, key string) ([]byte, error) {
	body, _, err := l.bucket.Get(ctx, key, 0, junit.BytesMost+1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(io.LimitReader(body, junit.BytesMost+1))
}
