package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/spelling"
)

// mysqlVerbs are the words that a statement of MySQL or MariaDB begins with. Nothing
// but the server reads the rest, but a word that is none of these it would refuse
// after earlier statements of the file have been committed.
var mysqlVerbs = verbs(`ALTER ANALYZE BACKUP BEGIN BINLOG CACHE CALL CASE CHANGE CHECK CHECKSUM CLONE COMMIT CREATE DEALLOCATE DECLARE DELETE DESC DESCRIBE DO DROP
	END EXECUTE EXPLAIN FLUSH FOR FROM GET GRANT HANDLER HELP IF IMPORT INSERT INSTALL ITERATE KILL LEAVE LOAD LOCK LOOP OPEN OPTIMIZE PREPARE PURGE RELEASE RENAME
	REPAIR REPEAT REPLACE RESET RESIGNAL RESTART RETURN REVOKE ROLLBACK SAVEPOINT SELECT SET SHOW SHUTDOWN SIGNAL SOURCE START STOP TABLE TRUNCATE UNINSTALL UNLOCK
	UPDATE USE VALUES WHILE WITH XA`)

func verbs(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

// labeled says whether a block with a label begins: again: LOOP.
func labeled(p []piece) bool { return len(p) > 1 && p[1].is(":") }

// meant is advice for a word that begins no statement.
func meant(word string) string {
	if meant := spelling.Closest(word, slices.Sorted(maps.Keys(mysqlVerbs))); meant != "" {
		return fmt.Sprintf("did you mean %s?", meant)
	}
	return "begin it with a word that MySQL knows, such as CREATE, ALTER or UPDATE; a comment begins with -- and a space"
}
