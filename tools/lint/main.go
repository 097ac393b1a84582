// Command lint runs the checks of staticcheck and of gosec in one program: the
// tree is loaded and type-checked once for both, and results are kept by package
// between runs. staticcheck.conf and //lint:ignore apply to staticcheck's checks,
// #nosec and the file gosec-exclude to those of gosec.
//
//	cd tools && go build -o ../bin/lint ./lint && cd .. && bin/lint ./...
package main

import (
	_ "embed"
	"log"
	"os"
	"strings"

	"github.com/securego/gosec/v2/goanalysis"
	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/lintcmd/version"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

//go:embed gosec-exclude
var excluded string

func main() {
	cmd := lintcmd.NewCommand("lint")
	// The version is a part of the key under which results are kept.
	cmd.SetVersion(version.Version, version.MachineVersion+" gosec "+excluded)
	cmd.AddAnalyzers(simple.Analyzers...)
	cmd.AddAnalyzers(staticcheck.Analyzers...)
	cmd.AddAnalyzers(stylecheck.Analyzers...)
	cmd.AddAnalyzers(unused.Analyzer)
	cmd.AddBareAnalyzers(gosec())
	cmd.ParseFlags(os.Args[1:])
	cmd.Run()
}

// gosec is the analyzer of gosec without the excluded rules. It looks at no
// tests, as the command gosec does not: they break rules on purpose.
func gosec() *analysis.Analyzer {
	var rules []string
	for line := range strings.Lines(excluded) {
		if rule, _, _ := strings.Cut(line, " "); strings.HasPrefix(rule, "G") {
			rules = append(rules, rule)
		}
	}
	a := *goanalysis.Analyzer
	if err := a.Flags.Set("exclude", strings.Join(rules, ",")); err != nil {
		log.Fatal("lint: exclude rules of gosec: ", err)
	}
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		report := pass.Report
		inner := *pass
		inner.Report = func(d analysis.Diagnostic) {
			if !strings.HasSuffix(pass.Fset.Position(d.Pos).Filename, "_test.go") {
				report(d)
			}
		}
		return run(&inner)
	}
	return &a
}
