package weir

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// collect reads rows of T; into says where the columns go.
func collect[T any](op string, rows pgx.Rows, err error, into func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, wrap(op, err)
	}
	var list []T
	var one T
	_, err = pgx.ForEachRow(rows, into(&one), func() error {
		list = append(list, one)
		return nil
	})
	return list, wrap(op, err)
}

// instant reads a timestamp whose NULL or infinity is the zero time.
type instant time.Time

// ScanTimestamptz implements [pgtype.TimestamptzScanner].
func (t *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = instant{}
	if v.Valid && v.InfinityModifier == pgtype.Finite {
		*t = instant(v.Time)
	}
	return nil
}

// maybe reads a text whose NULL is empty.
type maybe string

// ScanText implements [pgtype.TextScanner].
func (s *maybe) ScanText(v pgtype.Text) error {
	*s = maybe(v.String)
	return nil
}
