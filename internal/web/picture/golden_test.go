package picture

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write golden files again")

// large samples are for looking at; their bytes would teach a reviewer nothing.
var large = map[string]bool{"dag-compact": true, "gantt-large": true}

// TestGolden keeps the pictures as they were looked at. After a change: look
// at TestSamplePage, then go test ./internal/web/picture -rewrite.
func TestGolden(t *testing.T) {
	for _, s := range samples() {
		if large[s.name] {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			file := filepath.Join("testdata", s.name+".svg")
			got := string(s.svg) + "\n"
			if *rewrite {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the picture changed. Look at it, then run with -rewrite.\ngot\n%s", got)
			}
		})
	}
}

func TestSameValuesSameBytes(t *testing.T) {
	first, second := samples(), samples()
	for i, s := range first {
		if s.svg != second[i].svg {
			t.Errorf("%s is drawn in two ways", s.name)
		}
	}
}
