package script

import (
	"container/list"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/wasilibs/go-pgquery/parser"
)

// The parser runs in instances of a WebAssembly module that the library keeps
// for the next caller, also one whose stack has overflowed: after a text that
// nests some hundred deep every later one would fail too. The library has no
// way to drop an instance, so we empty its pool ourselves. If a new version of
// it names its pool otherwise, the build fails here.
//
//go:linkname instances github.com/wasilibs/go-pgquery/parser.abiPool
var instances *list.List

//go:linkname instancesMu github.com/wasilibs/go-pgquery/parser.abiPoolMu
var instancesMu sync.Mutex

// parsing lets one text be parsed at a time: the library makes a new instance
// for each caller that finds none free, and each takes a second or two and tens
// of megabytes.
var parsing sync.Mutex

// parseJSON is the parse tree of a text. deep says that the parser had not
// enough stack for it.
func parseJSON(sql string) (tree string, deep bool, err error) {
	parsing.Lock()
	defer parsing.Unlock()
	defer func() {
		if recover() != nil {
			instancesMu.Lock()
			instances.Init()
			instancesMu.Unlock()
			deep = true
		}
	}()
	tree, err = parser.ParseToJSON(sql)
	return tree, false, err
}
