package target

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
)

//go:embed postgres_snapshot.sql
var pgSnapshot string

// snapshot reads the catalogs at one moment, with an empty search path: then the
// server writes every name in full.
func (s *pgSession) snapshot(ctx context.Context) (Snapshot, error) {
	if _, err := s.conn.Exec(ctx, "begin isolation level repeatable read read only"); err != nil {
		return Snapshot{}, read(s.p, "read the schema", err)
	}
	defer s.rollback(ctx) //nolint:errcheck // nothing was changed, and the session ends
	if _, err := s.conn.Exec(ctx, `select set_config('search_path', '', true)`); err != nil {
		return Snapshot{}, read(s.p, "read the schema", err)
	}
	var lines []string
	err := s.query(ctx, pgSnapshot, nil, func(scan func(...any) error) error {
		var line string
		err := scan(&line)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		return Snapshot{}, read(s.p, "read the schema", err)
	}
	return SnapshotOf(lines), nil
}

// SnapshotOf is the snapshot that has these lines.
func SnapshotOf(lines []string) Snapshot {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line, "\n"))
		b.WriteByte('\n')
	}
	text := b.String()
	sum := sha256.Sum256([]byte(text))
	return Snapshot{Text: text, Hash: hex.EncodeToString(sum[:])}
}
