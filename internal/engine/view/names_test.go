package view

import (
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// Events are named after what they are about; what is gone has no name.
func TestNames(t *testing.T) {
	db := testdb.New(t)
	client, err := weir.New(db.Pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	job, err := client.SubmitJob(t.Context(), weir.Job{Name: "film", Tasks: []weir.Task{{Service: "encode", Key: "720p"}}})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := client.Submit(t.Context(), weir.Task{Service: "mail"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db.Pool)
	events, _, err := s.Timeline(t.Context(), TimelineFilter{}, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	events = append(events, Event{Task: weir.ID{1}})
	names, err := s.Names(t.Context(), events)
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := s.Tasks(t.Context(), TaskFilter{Job: job}, Page{})
	if err != nil || len(tasks) != 1 {
		t.Fatal(tasks, err)
	}
	for id, want := range map[weir.ID]Name{tasks[0].ID: {"720p", "encode", "film"}, alone.ID: {"", "mail", ""}, job: {"", "", "film"}} {
		if names[id] != want {
			t.Errorf("%s is %+v, want %+v", id, names[id], want)
		}
	}
	if names[alone.ID].String() != "mail" || names[tasks[0].ID].String() != "720p" || len(names) != 3 {
		t.Errorf("got %v", names)
	}
}
