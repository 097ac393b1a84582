package scenarios

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

var rewrite = flag.Bool("rewrite", false, "write the answers into the scenarios again")

func TestMain(m *testing.M) { testdb.Main(m) }

// block is a group of commands and their answer.
type block struct {
	head   []string // comments and commands
	answer []string
}

// parse splits a scenario into its blocks. An empty line ends a block.
func parse(text string) []block {
	var blocks []block
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		head, answer, _ := strings.Cut(part, "\n----\n")
		b := block{head: strings.Split(strings.TrimSuffix(head, "\n----"), "\n")}
		if answer != "" {
			b.answer = strings.Split(answer, "\n")
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func (b block) comment() bool { return strings.HasPrefix(b.head[len(b.head)-1], "#") }

func (b block) String() string {
	text := strings.Join(b.head, "\n")
	if b.comment() {
		return text
	}
	return text + "\n----\n" + strings.Join(b.answer, "\n")
}

// TestScenarios plays every file of this folder.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			blocks := parse(string(text))
			s := newStory(t)
			for i := range blocks {
				if blocks[i].comment() {
					continue
				}
				got := s.play(blocks[i].head)
				if want := strings.Join(blocks[i].answer, "\n"); !*rewrite && strings.Join(got, "\n") != want {
					t.Errorf("%s\nanswers\n%s\nbut should\n%s", strings.Join(blocks[i].head, "\n"), strings.Join(got, "\n"), want)
				}
				blocks[i].answer = got
			}
			if *rewrite {
				write(t, file, blocks)
			}
		})
	}
}

func write(t *testing.T, file string, blocks []block) {
	t.Helper()
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		parts[i] = b.String()
	}
	if err := os.WriteFile(file, []byte(strings.Join(parts, "\n\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
