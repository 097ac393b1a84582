package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

const (
	// listEvery is the longest time between two looks at a list that is watched:
	// not all that it shows is told by an event.
	listEvery = 2 * time.Second
	// listGap is the shortest, however much happens.
	listGap = 250 * time.Millisecond
)

// watchList shows a list again whenever something happened, until ctx ends or
// somebody presses q. Neither is an error.
func watchList[T any](ctx context.Context, o *output, s *app.Session, l list[T]) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	wake, unfollow := follow(ctx, s, l.follow)
	defer unfollow()
	show, screen := showLines[T](o), o.terminal && o.table()
	if screen {
		show = showScreen[T](o)
	}
	for first, told := true, false; ; first = false {
		o.now = time.Now()
		rows, listing, err := l.read(ctx)
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
		if !rest(ctx, listGap, listEvery, wake) {
			return nil
		}
	}
}

// follow says into the channel that something happened, until the function it
// returns is called. Where the timeline cannot be followed the looks by the
// clock must do.
func follow(ctx context.Context, s *app.Session, filter weir.Filter) (<-chan struct{}, func()) {
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

// rest waits until something happened or every is over, but at least gap. It
// reports whether ctx is still good.
func rest(ctx context.Context, gap, every time.Duration, wake <-chan struct{}) bool {
	return loop.Wait(ctx, gap, nil) && loop.Wait(ctx, every-gap, wake)
}

// showScreen draws the list in the same place again and again.
func showScreen[T any](o *output) func([]T, listing[T], string) error {
	drawn := 0
	var last []string
	return func(rows []T, listing listing[T], trouble string) error {
		_, o.width = terminal(o.Out.(*os.File))
		foot := "q ends"
		switch {
		case trouble != "":
			drawn = redraw(o.Out, append(last, o.paint(yellow, cut(clean(trouble), o.width-1))), drawn)
			return nil
		case len(rows) == 0:
			last = nil
			for _, line := range listing.empty {
				last = append(last, o.hint(line))
			}
		default:
			last = strings.Split(strings.TrimSuffix(listing.text(o, rows, nil, true), "\n"), "\n")
		}
		if room := max(terminalHeight(o.Out)-3, 3); len(last) > room {
			foot = fmt.Sprintf("%d more do not fit · %s", len(last)-room, foot)
			last = last[:room]
		}
		drawn = redraw(o.Out, append(last, o.paint(dim, o.now.Format("15:04:05")+" · "+foot)), drawn)
		return nil
	}
}

// showLines prints each row that is new or changed. That it has become older is
// no change.
func showLines[T any](o *output) func([]T, listing[T], string) error {
	known := map[string]string{}
	var widths []int
	titled := true
	return func(rows []T, listing listing[T], trouble string) error {
		if trouble != "" {
			o.say("%s", clean(trouble))
			return nil
		}
		var fresh []T
		seen := make(map[string]string, len(rows))
		for _, row := range rows {
			name, sign := listing.name(row), listing.sign(o, row)
			if seen[name] = sign; known[name] != sign {
				fresh = append(fresh, row)
			}
		}
		if known = seen; len(fresh) == 0 {
			return nil
		}
		switch o.format {
		case "json", "yaml", "name":
			return printEach(o, fresh, listing.name)
		}
		_, err := fmt.Fprint(o.Out, listing.text(o, fresh, &widths, titled))
		titled = false
		return err
	}
}

// sign is a row without what moves by itself.
func (l listing[T]) sign(o *output, row T) string {
	var text strings.Builder
	for _, c := range l.columns {
		if !c.ages {
			text.WriteString(c.value(o, row) + "\x00")
		}
	}
	return text.String()
}

// printEach prints values one by one as programs read a stream: a line of JSON,
// a document of YAML, or the name.
func printEach[T any](o *output, rows []T, name func(T) string) error {
	for _, row := range rows {
		var text bytes.Buffer
		var err error
		switch o.format {
		case "name":
			fmt.Fprintln(&text, clean(name(row)))
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
func (o *output) keys(end func()) func() {
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
