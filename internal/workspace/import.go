package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/home"
)

// Earlier is a row of the earlier schema: what `select row_to_json(w) from workspaces w`
// prints, with status, operation and desired_state.
type Earlier = json.RawMessage

// Imported is what became of a row.
type Imported struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Outcome is imported, known (it is here already), skipped (it was deleted) or failed.
	Outcome string `json:"outcome"`
	Says    string `json:"says,omitempty"`
}

// Importer takes over rows of the earlier schema. Their archives, which are tar.gz, are
// made into today's in the bucket; the old ones stay where they are.
type Importer struct {
	Store  *Store
	Bucket blob.Bucket
	Limits home.Limits
	// Provider is what is to run them. Empty: what their rows say.
	Provider string
	// Owner is whose they are if the owner's id is nobody's here. Zero: such a row fails.
	Owner weir.ID
}

// Import takes over rows, one by one. A row that fails holds up no other one, and the same
// rows can be given again: those that are here are left as they are. An error is one of
// the database, at which it stops.
func (m Importer) Import(ctx context.Context, by string, rows []Earlier) ([]Imported, error) {
	done := make([]Imported, 0, len(rows))
	for _, row := range rows {
		one, err := m.one(ctx, by, row)
		if err != nil {
			if p := problem.Explain(err); p.Kind == problem.Unreachable || p.Kind == problem.Canceled {
				return done, fmt.Errorf("import workspaces: %w", err)
			}
			one.Outcome, one.Says = "failed", problem.Explain(err).What
		}
		done = append(done, one)
	}
	return done, nil
}

func (m Importer) one(ctx context.Context, by string, row Earlier) (one Imported, err error) {
	var is struct {
		ID, Name, Status string
		ArchiveKey       string  `json:"archive_key"`
		Op               string  `json:"op_id"`
		Deleted          *string `json:"deleted_at"`
	}
	if err := json.Unmarshal(row, &is); err != nil {
		return one, problem.New(problem.Invalid, "give rows as row_to_json prints them", "this is no row: %v", err)
	}
	one.ID, one.Name = is.ID, is.Name
	id, err := weir.ParseID(is.ID)
	if err != nil {
		return one, problem.New(problem.Invalid, "give rows as row_to_json prints them", "%q is no id of a workspace", is.ID)
	}
	here, err := m.Store.exists(ctx, id)
	if err != nil {
		return one, err
	}
	var key string
	var meta json.RawMessage
	if is.ArchiveKey != "" && is.Deleted == nil && is.Status != "DELETED" && !here {
		if key, meta, err = m.convert(ctx, id, is.ArchiveKey, is.Op); err != nil {
			return one, fmt.Errorf("its archive %s: %w", is.ArchiveKey, err)
		}
	}
	one.Outcome, one.Says, err = m.Store.takeOver(ctx, row, key, meta, m.Owner, m.Provider, by)
	return one, err
}

// convert makes today's archive of an earlier one, and reads it back.
func (m Importer) convert(ctx context.Context, id weir.ID, from, op string) (key string, text json.RawMessage, err error) {
	// The same again is the same archive.
	which, err := weir.ParseID(opOf(from))
	if err != nil {
		which, err = weir.ParseID(op)
	}
	if err != nil {
		return "", nil, problem.New(problem.Invalid, "give the row its op_id", "neither its key nor its row names the operation that made it")
	}
	key = archiveKey(id, which)
	if err := m.marked(ctx); err != nil {
		return "", nil, err
	}
	meta, err := store(ctx, m.Bucket, key, func(to io.Writer) (home.Meta, error) {
		body, _, err := m.Bucket.Get(ctx, from, 0, -1)
		if err != nil {
			return home.Meta{}, err
		}
		meta, err := home.Seal(to, func(to io.Writer) (home.Summary, error) { return home.Convert(ctx, body, to, m.Limits) })
		return meta, errors.Join(err, body.Close())
	})
	if err == nil {
		err = readBack(ctx, m.Bucket, key, meta, m.Limits, func(int) {})
	}
	if err == nil {
		err = seal(ctx, m.Bucket, key, meta)
	}
	if err != nil {
		return "", nil, err
	}
	text, err = json.Marshal(meta)
	return key, text, err
}

// marked sees to it that the bucket is the one that has the archives, as the controller does.
func (m Importer) marked(ctx context.Context) error {
	_, err := m.Bucket.Stat(ctx, bucketMark)
	if !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	archived, _, err := m.Store.stock(ctx)
	if err != nil {
		return err
	}
	return markBucket(ctx, m.Bucket, archived)
}

// opOf is the folder that an object is in.
func opOf(key string) string {
	parts := strings.Split(key, "/")
	return parts[max(len(parts)-2, 0)]
}
