package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
)

// commandConns is enough for a command: one to ask, one to follow.
const commandConns = 4

// Reader is what commands read with: a database, or a server's API.
type Reader interface {
	Task(ctx context.Context, id weir.ID) (view.Task, error)
	TaskID(ctx context.Context, text string) (weir.ID, error)
	Tasks(ctx context.Context, f view.TaskFilter, page view.Page) ([]view.Task, error)
	TaskEvents(ctx context.Context, task weir.ID) ([]view.Event, error)
	Job(ctx context.Context, id weir.ID) (view.Job, error)
	JobID(ctx context.Context, text string) (weir.ID, error)
	Jobs(ctx context.Context, f view.JobFilter, page view.Page) ([]view.Job, error)
	Events(ctx context.Context, job weir.ID, limit int) ([]view.Event, error)
	EventsAfter(ctx context.Context, cursor string, job, task weir.ID, limit int) ([]view.Event, error)
	Node(ctx context.Context, name string) (view.Node, error)
	Nodes(ctx context.Context, page view.Page) ([]view.Node, error)
	Pools(ctx context.Context, page view.Page) ([]view.Pool, error)
	Schedule(ctx context.Context, name string) (view.Schedule, error)
	Schedules(ctx context.Context, page view.Page) ([]view.Schedule, error)
	Workers(ctx context.Context, f view.WorkerFilter, page view.Page) ([]view.Worker, error)
	Doctor(ctx context.Context, deep bool) ([]view.Finding, error)
}

// Commander is what commands change things with: a database, or a server's API.
type Commander interface {
	Submit(ctx context.Context, task weir.Task) (weir.Receipt, error)
	SubmitJob(ctx context.Context, job weir.Job) (weir.ID, error)
	Cancel(ctx context.Context, task weir.ID, d weir.Decision) (ended bool, err error)
	CancelJob(ctx context.Context, job weir.ID, d weir.Decision) (ended, asked int, err error)
	Retry(ctx context.Context, task weir.ID, by string) error
	Skip(ctx context.Context, task weir.ID, d weir.Decision) error
	Hold(ctx context.Context, task weir.ID, d weir.Decision) error
	Release(ctx context.Context, task weir.ID, by string) error
	SetPriority(ctx context.Context, task weir.ID, priority int, by string) error
	Why(ctx context.Context, task weir.ID) ([]weir.Reason, error)
	SetNodeMode(ctx context.Context, node string, mode weir.Mode, until time.Time, d weir.Decision) error
	SetPool(ctx context.Context, p weir.Pool) error
	DropPool(ctx context.Context, name string, force bool) error
	SetSchedule(ctx context.Context, s weir.Schedule) error
	PauseSchedule(ctx context.Context, name string, paused bool) error
	DropSchedule(ctx context.Context, name string) error
	Tail(ctx context.Context) (weir.Cursor, error)
	Follow(ctx context.Context, after weir.Cursor, filter weir.Filter, f func(weir.Event) error) error
}

// Session is a command's connection to the database.
type Session struct {
	Client Commander
	Store  Reader
	// URL is where it is connected; it holds a password.
	URL string

	close func()
}

// Connect finds the database and connects to it. Close the session afterwards.
func Connect(ctx context.Context, c Config, values []Value) (*Session, error) {
	url, err := DatabaseURL(c, values)
	if err != nil {
		return nil, err
	}
	pool, err := pg.Open(ctx, url, pg.Options{Name: "weir command", MaxConns: commandConns})
	if err != nil {
		return nil, err
	}
	client, err := weir.New(pool, nil)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Session{Client: client, Store: view.New(pool), URL: url, close: func() {
		client.Close()
		pool.Close()
	}}, nil
}

// Close says what is left to say and disconnects.
func (s *Session) Close() { s.close() }

// DatabaseURL is the address of the database that a command should use: the
// one that is set, or that of the server in the data folder. If nobody said
// which folder, the likely ones are tried.
func DatabaseURL(c Config, values []Value) (string, error) {
	if c.DatabaseURL != "" {
		return c.DatabaseURL, nil
	}
	folders := []string{c.Data}
	for _, v := range values {
		if v.Name == "data" && v.Origin == "default" {
			folders = dataFolders()
		}
	}
	var failed error
	for _, folder := range folders {
		r, err := ReadRunning(folder)
		if err == nil {
			return r.DatabaseURL, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", &problem.Problem{
		Kind: problem.Unreachable,
		What: fmt.Sprintf("no running Weir was found in %s", strings.Join(folders, " or ")),
		Next: "start one with: weir up, or say where it is with --data DIR or --database-url URL",
		Err:  failed,
	}
}
