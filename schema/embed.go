// Package schema holds the SQL of the database and nothing else.
//
// The database is a public surface: migrations only go forward, a function
// keeps its arguments, a view only gets columns at its end. Package pg applies
// these files and says how.
package schema

import "embed"

// FS has the folders migrations, functions and views, and grants.sql.
//
//go:embed migrations/*.sql functions/*.sql views/*.sql grants.sql
var FS embed.FS
