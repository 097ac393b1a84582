package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"

	"golang.org/x/term"
)

const (
	// LookEvery is the time between two looks at a job that is watched.
	LookEvery = 250 * time.Millisecond
	// DrawEvery is the longest time between two drawings: ages and bars move.
	DrawEvery = time.Second
	// lookSeldom is the time between two looks at something of thousands of parts.
	lookSeldom = 2 * time.Second
)

// Watched is something that is shown until it has ended.
type Watched[P any] struct {
	Follow weir.Filter
	// Read reads how it stands.
	Read func(ctx context.Context) (P, error)
	// Lines prints what has moved, draw draws it on a terminal of so many lines. Nil: it is
	// never drawn.
	Lines func(P) error
	Draw  func(page P, room int) []string
	// Over says that it has ended, large that reading it takes long; nil: it does not.
	Over, Large func(P) bool
	// Left is said when a person stops watching. Nothing in it may be read as the end of
	// the thing.
	Left string
}

// Watch shows it until it has ended, and returns how it stands then.
func (w Watched[P]) Watch(ctx context.Context, o *Output, s *app.Session) (P, error) {
	show := w.Lines
	if w.Draw != nil && o.Terminal && o.Format == "table" {
		drawn := 0
		show = func(page P) error {
			_, o.Width = terminal(o.Out.(*os.File))
			drawn = redraw(o.Out, w.Draw(page, terminalHeight(o.Out)-2), drawn)
			return nil
		}
	}
	wake, unfollow := Follow(ctx, s, w.Follow)
	defer unfollow()
	for {
		page, err := w.Read(ctx)
		if ctx.Err() != nil {
			o.Say("%s", w.Left)
			return page, Quiet(problem.Canceled)
		}
		if err != nil {
			return page, err
		}
		o.Now = time.Now()
		if err := show(page); err != nil || w.Over(page) {
			return page, err
		}
		gap := LookEvery
		if w.Large != nil && w.Large(page) {
			gap = lookSeldom
		}
		Rest(ctx, gap, gap+DrawEvery, wake) // ended: the next look says so
	}
}

// Ended is the exit code of something that ended in this state.
func Ended(state string) error {
	switch state {
	case "failed":
		return Quiet(problem.Failed)
	case "canceled":
		return Quiet(problem.Canceled)
	}
	return nil
}

// redraw replaces the lines drawn before and returns how many there are now.
func redraw(out io.Writer, lines []string, before int) int {
	var text strings.Builder
	if before > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", before)
	}
	for _, line := range lines {
		text.WriteString(line + "\x1b[K\r\n") // also where the terminal adds no return
	}
	text.WriteString("\x1b[J")
	_, _ = io.WriteString(out, text.String()) // a terminal that is gone ends us otherwise
	return len(lines)
}

// watchList shows a list again whenever something happened, until ctx ends or
// somebody presses q. Neither is an error.
func watchList[T any](ctx context.Context, o *Output, s *app.Session, l List[T]) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	wake, unfollow := Follow(ctx, s, l.Follow)
	defer unfollow()
	show, screen := showLines[T](o), o.Terminal && o.Table()
	if screen {
		show = showScreen[T](o)
	}
	for first, told := true, false; ; first = false {
		o.Now = time.Now()
		rows, listing, err := l.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			told = false
			if err := show(rows, listing, ""); err != nil {
				return err
			}
		case first || problem.Explain(err).Kind != problem.Unreachable:
			return err
		case !told:
			// A server that restarts comes back; what is on the screen stays.
			told = true
			if err := show(nil, listing, "not up to date: "+problem.Explain(err).What); err != nil {
				return err
			}
		}
		if first && screen {
			defer o.keys(end)() // there is something to see by now
		}
		if !Rest(ctx, listGap, listEvery, wake) {
			return nil
		}
	}
}

// Follow says into the channel that something happened, until the function it
// returns is called. Where the timeline cannot be followed the looks by the
// clock must do.
func Follow(ctx context.Context, s *app.Session, filter weir.Filter) (<-chan struct{}, func()) {
	ctx, end := context.WithCancel(ctx)
	wake, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		tail, err := work.ShowTail.Call(ctx, s.Operations, &struct{}{})
		if err != nil {
			return
		}
		_ = s.Follow(ctx, tail.Cursor, filter, func(weir.Event) error {
			select {
			case wake <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	return wake, func() {
		end()
		<-ended
	}
}

// Rest waits until something happened or every is over, but at least gap. It
// reports whether ctx is still good.
func Rest(ctx context.Context, gap, every time.Duration, wake <-chan struct{}) bool {
	return loop.Wait(ctx, gap, nil) && loop.Wait(ctx, every-gap, wake)
}

// showScreen draws the list in the same place again and again.
func showScreen[T any](o *Output) func([]T, Listing[T], string) error {
	drawn := 0
	var last []string
	return func(rows []T, listing Listing[T], trouble string) error {
		_, o.Width = terminal(o.Out.(*os.File))
		foot := "q ends"
		switch {
		case trouble != "":
			drawn = redraw(o.Out, append(last, o.Paint(Yellow, Cut(Clean(trouble), o.Width-1))), drawn)
			return nil
		case len(rows) == 0:
			last = nil
			for _, line := range listing.Empty {
				last = append(last, o.Hint(line))
			}
		default:
			last = strings.Split(strings.TrimSuffix(listing.text(o, rows, nil, true), "\n"), "\n")
		}
		if room := max(terminalHeight(o.Out)-3, 3); len(last) > room {
			foot = fmt.Sprintf("%d more do not fit · %s", len(last)-room, foot)
			last = last[:room]
		}
		drawn = redraw(o.Out, append(last, o.Paint(Dim, o.Now.Format("15:04:05")+" · "+foot)), drawn)
		return nil
	}
}

// showLines prints each row that is new or changed. That it has become older is
// no change.
func showLines[T any](o *Output) func([]T, Listing[T], string) error {
	known := map[string]string{}
	var widths []int
	titled := true
	return func(rows []T, listing Listing[T], trouble string) error {
		if trouble != "" {
			o.Say("%s", Clean(trouble))
			return nil
		}
		var fresh []T
		seen := make(map[string]string, len(rows))
		for _, row := range rows {
			name, sign := listing.Name(row), listing.sign(o, row)
			if seen[name] = sign; known[name] != sign {
				fresh = append(fresh, row)
			}
		}
		if known = seen; len(fresh) == 0 {
			return nil
		}
		switch o.Format {
		case "json", "yaml", "name":
			return PrintEach(o, fresh, listing.Name)
		}
		_, err := fmt.Fprint(o.Out, listing.text(o, fresh, &widths, titled))
		titled = false
		return err
	}
}

// sign is a row without what moves by itself.
func (l Listing[T]) sign(o *Output, row T) string {
	var text strings.Builder
	for _, c := range l.Columns {
		if !c.Ages {
			text.WriteString(c.Value(o, row) + "\x00")
		}
	}
	return text.String()
}

// PrintEach prints values one by one as programs read a stream: a line of JSON,
// a document of YAML, or the name.
func PrintEach[T any](o *Output, rows []T, name func(T) string) error {
	for _, row := range rows {
		var text bytes.Buffer
		var err error
		switch o.Format {
		case "name":
			fmt.Fprintln(&text, Clean(name(row)))
		case "json":
			err = json.NewEncoder(&text).Encode(row)
		default:
			text.WriteString("---\n")
			var value []byte
			if value, err = json.Marshal(row); err == nil {
				err = writeYAML(&text, value)
			}
		}
		if err == nil {
			_, err = o.Out.Write(text.Bytes())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keys calls end when somebody presses q or Ctrl-C, if a terminal can tell us.
// The function it returns gives the terminal back.
func (o *Output) keys(end func()) func() {
	f, ok := o.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	// A read from a terminal cannot be ended; the process does not wait for it.
	go func() {
		key := make([]byte, 1)
		for {
			if n, err := f.Read(key); err != nil || n == 0 || strings.ContainsAny(string(key), "qQ\x03\x04") {
				end()
				return
			}
		}
	}()
	return func() { _ = term.Restore(int(f.Fd()), before) }
}

const (
	// listEvery is the longest time between two looks at a list that is watched:
	// not all that it shows is told by an event.
	listEvery = 2 * time.Second
	// listGap is the shortest, however much happens.
	listGap = 250 * time.Millisecond
)

// Bar is a progress bar for a percentage, whatever a worker has reported.
func Bar(percent float64) string {
	if math.IsNaN(percent) {
		percent = 0
	}
	full := int(math.Round(min(max(percent, 0), 100) / 100 * BarCells))
	return strings.Repeat("█", full) + strings.Repeat("░", BarCells-full)
}

// BarCells is the width of a progress bar.
const BarCells = 20
