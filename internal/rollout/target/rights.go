package target

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/weirhq/weir/internal/pattern"
)

// createNext is what to do about a user who may not create tables.
const createNext = "Give the user of the DSN the right to create tables there, register the database with another user, or let its search_path begin with a schema where it may."

// Rights looks whether the tables of Weir are there, or may be made.
func (b *base) Rights(ctx context.Context) error {
	return b.look(ctx, func(s session) error {
		is, err := s.ledger().there(ctx)
		if is || err != nil {
			return err
		}
		may, where, err := s.mayCreate(ctx)
		if may || err != nil {
			return err
		}
		return &Failure{Code: CodeForbidden, What: fmt.Sprintf("the user of the DSN may not create tables in %s, where Weir keeps weir_history", where), Next: createNext}
	})
}

func (s *pgSession) mayCreate(ctx context.Context) (may bool, where string, err error) {
	err = s.conn.QueryRow(ctx, `select coalesce((select has_schema_privilege(n.oid, 'CREATE') from pg_namespace n where '"' || replace(n.nspname, '"', '""') || '"' = $1), false)`, s.books.schema).Scan(&may)
	return may, "schema " + s.books.schema, err
}

var (
	grantedCreate = regexp.MustCompile(`(?i)^GRANT (.*\b(ALL PRIVILEGES|CREATE)\b.*) ON `)
	grantedRole   = regexp.MustCompile("(?i)^GRANT [^ ]+ TO ")
)

// mayCreate reads what the user was granted. Rights that come through a role are not
// shown: whoever has one is believed.
func (s *mySession) mayCreate(ctx context.Context) (may bool, where string, err error) {
	where = "database " + s.schemaName()
	err = s.query(ctx, `show grants`, nil, func(scan func(into ...any) error) error {
		var line string
		if err := scan(&line); err != nil {
			return err
		}
		may = may || grantedRole.MatchString(line) || createsIn(line, s.schemaName())
		return nil
	})
	return may, where, err
}

// createsIn says whether a line of SHOW GRANTS gives the right to create tables in a
// database. Such a line names it by a pattern: _ stands for any character.
func createsIn(line, database string) bool {
	m := grantedCreate.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	creates := false
	for right := range strings.SplitSeq(m[1], ",") {
		right = strings.TrimSpace(right)
		creates = creates || strings.EqualFold(right, "CREATE") || strings.EqualFold(right, "ALL PRIVILEGES")
	}
	on := line[len(m[0]):]
	if strings.HasPrefix(on, "*.*") {
		return creates
	}
	names, _, found := strings.Cut(strings.TrimPrefix(on, "`"), "`.*")
	if !found {
		return false // on one table
	}
	return creates && pattern.Like(strings.ReplaceAll(names, "``", "`")).MatchString(database)
}
