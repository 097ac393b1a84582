// Package schema holds the SQL of the database and nothing else.
//
// The database is a public surface: migrations only go forward, a function
// keeps its arguments, a view only gets columns at its end. Package pg applies
// these files and says how.
package schema

import "embed"

// FS has the folders migrations, functions and views, the latter two with a folder
// for each domain, grants.sql, and versions.txt, which numbers functions, views and grants: a line for each
// version, the hash of its content. Lines are only ever added, by `make gen`.
//
//go:embed migrations/*.sql functions/*/*.sql views/*/*.sql grants.sql versions.txt
var FS embed.FS
