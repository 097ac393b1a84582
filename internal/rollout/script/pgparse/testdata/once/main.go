// Command once parses one statement, for the test of the cache: a process loads
// the parser but once.
package main

import (
	"log"

	"github.com/weirhq/weir/internal/rollout/script/pgparse"
)

func main() {
	if _, err := pgparse.JSON("select 1"); err != nil {
		log.Fatal(err)
	}
}
