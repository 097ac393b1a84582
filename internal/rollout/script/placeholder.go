package script

import (
	"fmt"
	"regexp"
)

// placeholder is what Flyway replaces before it sends a file: ${schema}.
var (
	placeholder   = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_.:-]*\}`)
	placeholderIn = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_.:-]*\}`)
)

// placeholderMost bounds how far the end of one is looked for.
const placeholderMost = 200

// placeholderFault refuses a placeholder where SQL should stand.
func placeholderFault(sql string, at int) *Fault {
	return faultAt(sql, at, fmt.Sprintf("Weir does not replace placeholders such as %s", placeholderIn.FindString(sql[at:])), "write the value itself: a file means the same for every database that gets it")
}
