package view

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

// However many ask, and at once, the doctor looks once in a while; who goes away stops nobody,
// and a deep look is one of its own.
func TestCheckupIsShared(t *testing.T) {
	db := testdb.New(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		if _, err := db.Pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	// The real one, of which a part is counted, and as slow as the lock that somebody holds.
	exec(`create sequence public.looks; create table public.gate ()`)
	exec(`alter function weir._doctor_fleets rename to _looked`)
	exec(`create function weir._doctor_fleets() returns table (name text, ok boolean, level text, detail text) language plpgsql as
		$$ begin perform nextval('public.looks'); lock table public.gate; return query select * from weir._looked(); end $$`)
	t.Cleanup(func() {
		if _, err := db.Pool.Exec(context.Background(), `drop function weir._doctor_fleets; alter function weir._looked rename to _doctor_fleets`); err != nil {
			t.Error(err)
		}
	})
	looks := func() (n int) {
		if err := db.Pool.QueryRow(ctx, `select case when is_called then last_value else 0 end from public.looks`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	s := New(db.Pool)
	hold, err := db.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.Exec(ctx, `lock table public.gate`); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(ctx)
	first := make(chan error)
	go func() {
		_, err := s.Checkup(gone, false)
		first <- err
	}()
	for looks() == 0 { // it is under way
		if ctx.Err() != nil {
			t.Fatal("nobody looked")
		}
	}
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who left was told %v", err)
	}
	var all sync.WaitGroup
	reports := make(chan Report, 20)
	for range cap(reports) {
		all.Go(func() {
			r, err := s.Checkup(ctx, false)
			if err != nil || len(r.Findings) == 0 {
				t.Errorf("%d findings, %v", len(r.Findings), err)
			}
			reports <- r
		})
	}
	if err := hold.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	again, err := s.Checkup(ctx, false)
	if err != nil || again.Age <= 0 || again.At != (<-reports).At {
		t.Errorf("asked again: %v, %+v", err, again)
	}
	if n := looks(); n != 1 {
		t.Errorf("22 asked, and the doctor looked %d times", n)
	}
	if _, err := s.Checkup(ctx, true); err != nil || looks() != 2 {
		t.Errorf("a deep look: %v, %d looks", err, looks())
	}
}
