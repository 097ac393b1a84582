package script

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxSize bounds a file. More is data, and data is loaded otherwise.
const maxSize = 8 << 20

// Read makes a change of one file. A name without a version is the name of a
// change that has none. The error is a *Fault.
func Read(name string, text []byte) (Change, error) {
	c, fault := read(name, text)
	if fault != nil {
		return Change{}, fault.in(name)
	}
	return c, nil
}

func read(file string, text []byte) (Change, *Fault) {
	name, fault := parseName(file)
	if fault != nil {
		return Change{}, fault
	}
	if why := left[name.role]; why != "" {
		return Change{}, &Fault{What: "the file " + why, Next: "leave it out"}
	}
	sql, fault := plain(text)
	if fault != nil {
		return Change{}, fault
	}
	c := Change{Version: name.version, Name: name.title, File: file, Transaction: true, Repeatable: name.role == repeatable}
	g, fault := readGoose(sql)
	if fault != nil {
		return Change{}, fault
	}
	if g.noTransaction {
		c.Transaction = false
	}
	if fault := directives(sql, &c); fault != nil {
		return Change{}, fault
	}
	if g.found {
		sql = g.up
	}
	c.SQL, c.Checksum = sql, Checksum(sql)
	if c.Kind == "" {
		c.Kind = guess(sql)
	}
	return c, nil
}

// plain is a text as a database takes it: UTF-8 without a byte order mark.
func plain(text []byte) (string, *Fault) {
	if len(text) > maxSize {
		return "", &Fault{What: fmt.Sprintf("the file has %d MiB, more than %d", len(text)>>20, maxSize>>20), Next: "load data by other means, or cut it into several changes"}
	}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return "", &Fault{Line: 1, Column: 1, What: "the file is UTF-16", Next: "save it as UTF-8"}
		}
	}
	sql := strings.TrimPrefix(string(text), "\ufeff")
	if fault := encoding(sql); fault != nil {
		return "", fault
	}
	return sql, nil
}

// encoding refuses what the parser would misread: it takes a NUL for the end of
// the text, and everything behind it would silently not run.
func encoding(sql string) *Fault {
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return faultAt(sql, i, "the text has a NUL byte", "take it out, or save the file as UTF-8")
	}
	if utf8.ValidString(sql) {
		return nil
	}
	for i, r := range sql {
		if r == utf8.RuneError && !strings.HasPrefix(sql[i:], "\ufffd") {
			return faultAt(sql, i, fmt.Sprintf("byte 0x%02x is not UTF-8", sql[i]), "save the file as UTF-8")
		}
	}
	return nil
}
