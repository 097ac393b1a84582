package docker

import (
	"bytes"
	"io"
	"testing"
)

// pair is an output that already had some of the bytes.
type pair struct {
	streams [2]bytes.Buffer
	took    [2]int64
}

func (p *pair) Stdout() io.Writer     { return &p.streams[0] }
func (p *pair) Stderr() io.Writer     { return &p.streams[1] }
func (p *pair) Taken() (int64, int64) { return p.took[0], p.took[1] }
func (p *pair) Alive()                {}

// line is an entry of the log, as the engine sends it.
type line struct {
	stream int
	at     string
	text   string
}

// reread replays the entries that the engine sends for the tail's place.
func reread(t *testing.T, l *tail, log []line) {
	t.Helper()
	since := l.rewind()
	for _, one := range log {
		if one.at < since {
			continue
		}
		to := []io.Writer{l.out.Stdout(), l.out.Stderr()}[one.stream]
		if _, err := (entry{l, one.stream, to}).Write([]byte(one.at + " " + one.text)); err != nil {
			t.Fatal(err)
		}
	}
}

// The log may be read again from the place, in any state: no byte comes twice, and none
// is left out. Entries of two streams are not in order, and the parts of a long line have
// the same time.
func TestEachLineOnce(t *testing.T) {
	log := []line{
		{0, "01", "hello\n"},
		{0, "03", "part one, "},
		{0, "03", "part two\n"},
		{1, "02", "warning\n"}, // written late
		{0, "05", "bye\n"},
		{1, "04", "another\n"},
	}
	const stdout, stderr = "hello\npart one, part two\nbye\n", "warning\nanother\n"
	for cut := range len(log) + 1 {
		out := &pair{}
		l := &tail{out: out}
		reread(t, l, log[:cut])
		reread(t, l, log)
		reread(t, l, log)
		if out.streams[0].String() != stdout || out.streams[1].String() != stderr {
			t.Errorf("cut after %d: %q and %q", cut, out.streams[0].String(), out.streams[1].String())
		}
	}
}

// A later process leaves out what the previous one had, with or without its note.
func TestResumeAfterAnyByte(t *testing.T) {
	log := []line{{0, "01", "hello\n"}, {1, "02", "warning\n"}, {0, "03", "bye\n"}}
	const stdout, stderr, said = "hello\nbye\n", "warning\n", "docker: pulling\n"
	for took := range int64(len(stdout) + 1) {
		for tookErr := range int64(len(said+stderr) + 1) {
			for noted := range len(log) + 1 {
				first := &tail{out: &pair{}, place: place{Said: int64(len(said))}}
				reread(t, first, log[:noted])

				out := &pair{took: [2]int64{took, tookErr}}
				l := &tail{out: out, place: first.place}
				if err := l.resume(); err != nil {
					t.Fatal(err)
				}
				reread(t, l, log)
				wantErr := stderr[max(0, tookErr-int64(len(said))):]
				if got := out.streams[0].String(); got != stdout[took:] {
					t.Fatalf("noted %d, had %d: stdout %q, want %q", noted, took, got, stdout[took:])
				}
				if got := out.streams[1].String(); got != wantErr {
					t.Fatalf("noted %d, had %d: stderr %q, want %q", noted, tookErr, got, wantErr)
				}
			}
		}
	}
}
