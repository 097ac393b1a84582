package reason

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the words of SQL again")

// TestWordsOfSQL fails when weir._words is not what en.json says: English has one source.
func TestWordsOfSQL(t *testing.T) {
	const file = "../../schema/functions/engine/_words.sql"
	want := sqlWords()
	if *rewrite {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // as all files of the tree
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what en.json says: run this test with -rewrite (%v)", file, err)
	}
}

// sqlWords is the function that has the English words by code.
func sqlWords() string {
	var out strings.Builder
	out.WriteString(`-- The English words of reasons by code. Written by the test of internal/reason from its en.json, with -rewrite: change that file.
create or replace function weir._words(code text) returns text
language sql immutable parallel safe
as $$
  select case code
`)
	words := tables[Default]
	codes := make([]string, 0, len(words))
	for code := range words {
		if !strings.HasPrefix(code, "span.") { // weir._span has those
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	for _, code := range codes {
		fmt.Fprintf(&out, "    when '%s' then %s\n", code, quote(words[code]))
	}
	out.WriteString("  end\n$$;\ncomment on function weir._words is 'The words of a reason, with places for its arguments.';\n")
	return out.String()
}

// quote is text as SQL has it, in lines that are not too long.
func quote(text string) string {
	const width = 90
	var lines []string
	for len(text) > width {
		at := strings.LastIndexByte(text[:width], ' ') + 1
		lines, text = append(lines, text[:at]), text[at:]
	}
	lines = append(lines, text)
	for i, line := range lines {
		lines[i] = "'" + strings.ReplaceAll(line, "'", "''") + "'"
	}
	return strings.Join(lines, "\n      ")
}
