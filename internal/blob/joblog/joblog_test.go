package joblog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/blob/joblog"
)

var log = joblog.Log{Job: "01993f5c-1111-7abc-8def-0123456789ab", Task: "render[0]", Attempt: 1}

var when = time.Date(2026, 11, 15, 8, 0, 0, 123456789, time.UTC)

func twins(t *testing.T, test func(t *testing.T, b blob.Bucket)) {
	t.Run("folder", func(t *testing.T) { test(t, blobtest.Folder(t)) })
	t.Run("s3", func(t *testing.T) { test(t, blobtest.Open(t)) })
}

// add stores a chunk.
func add(t *testing.T, b blob.Bucket, seq int, texts ...string) {
	t.Helper()
	var chunk []byte
	for _, text := range texts {
		chunk = joblog.Append(chunk, joblog.Line{At: when, Stream: joblog.Stdout, Text: text})
	}
	raw(t, b, seq, string(chunk))
}

func raw(t *testing.T, b blob.Bucket, seq int, chunk string) {
	t.Helper()
	if _, err := b.Put(t.Context(), blob.LogKey(log.Job, log.Task, log.Attempt, seq), strings.NewReader(chunk), -1, "application/jsonl"); err != nil {
		t.Fatal(err)
	}
}

func texts(t *testing.T, lines joblog.Lines) (all []string, last joblog.Place) {
	t.Helper()
	for line, err := range lines {
		if err != nil {
			t.Fatal(err)
		}
		all, last = append(all, line.Text), line.Place
	}
	return all, last
}

func TestALogIsReadInOrderFromAnyPlace(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		var want []string
		for chunk := range 12 { // 10 sorts behind 2
			var part []string
			for line := range chunk % 4 {
				part = append(part, fmt.Sprintf("%d.%d <b>&\u2028 \x1b[31mé", chunk, line))
			}
			add(t, b, chunk, part...)
			want = append(want, part...)
		}
		got, _ := texts(t, joblog.Read(t.Context(), b, log, joblog.Place{}))
		if !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		// A reader that breaks off after any line misses no line and gets none twice.
		for n := range want {
			var place joblog.Place
			count := 0
			for line, err := range joblog.Read(t.Context(), b, log, joblog.Place{}) {
				if err != nil {
					t.Fatal(err)
				}
				if place = line.Place; count == n {
					break
				}
				count++
			}
			again, err := joblog.ParsePlace(place.String())
			if err != nil || again != place {
				t.Fatal(again, err)
			}
			if rest, _ := texts(t, joblog.Read(t.Context(), b, log, again)); !slices.Equal(rest, want[n+1:]) {
				t.Errorf("behind line %d: %q", n, rest)
			}
		}
		for _, n := range []int{0, 1, 5, 100} {
			tail, err := joblog.Tail(t.Context(), b, log, n)
			if err != nil || len(tail) != min(n, len(want)) || n > 0 && tail[len(tail)-1].Text != want[len(want)-1] {
				t.Errorf("the last %d: %v, %v", n, tail, err)
			}
		}
		line := first(t, b)
		if !line.At.Equal(when) || line.Stream != joblog.Stdout {
			t.Errorf("%+v", line)
		}
		other := log
		other.Attempt = 11
		if got, _ := texts(t, joblog.Read(t.Context(), b, other, joblog.Place{})); len(got) > 0 {
			t.Errorf("attempt 11 says %q", got)
		}
		if attempts, err := joblog.Attempts(t.Context(), b, log.Job, log.Task); err != nil || !slices.Equal(attempts, []int{1}) {
			t.Errorf("attempts %v, %v", attempts, err)
		}
	})
}

func first(t *testing.T, b blob.Bucket) joblog.Line {
	t.Helper()
	for line, err := range joblog.Read(t.Context(), b, log, joblog.Place{}) {
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	t.Fatal("the log is empty")
	return joblog.Line{}
}

func TestAttemptsAreFound(t *testing.T) {
	b := blobtest.Folder(t)
	for _, attempt := range []int{2, 10, 1, 3} {
		if _, err := b.Put(t.Context(), blob.LogKey(log.Job, log.Task, attempt, 0), strings.NewReader("{}"), 2, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(t.Context(), blob.LogKey(log.Job, log.Task, attempt, 7), strings.NewReader("{}"), 2, ""); err != nil {
			t.Fatal(err)
		}
	}
	if attempts, err := joblog.Attempts(t.Context(), b, log.Job, log.Task); err != nil || !slices.Equal(attempts, []int{1, 2, 3, 10}) {
		t.Errorf("%v, %v", attempts, err)
	}
}

func TestALogTellsWhatIsWrongWithIt(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		add(t, b, 1, "one")
		raw(t, b, 2, "no JSON \xff\n"+`{"at":"2026-11-15T08:00:00Z","stream":"stderr","text":"two"}`+"\n\n"+`{"text":"no stream"}`+"\n"+`{"cut`)
		add(t, b, 5, strings.Repeat("x", 2<<20), "after")
		got, last := texts(t, joblog.Read(t.Context(), b, log, joblog.Place{}))
		if len(got) != 9 {
			t.Fatalf("%d lines: %.200q", len(got), got)
		}
		got[7] = fmt.Sprint(len(got[7]) >= 1<<19)
		want := []string{"chunk 0 of this log is missing", "one", "no JSON \uFFFD", "two", `{"text":"no stream"}`, `{"cut`, "chunks 3 to 4 of this log are missing", "true", "after"}
		if !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if rest, _ := texts(t, joblog.Read(t.Context(), b, log, last)); len(rest) > 0 {
			t.Errorf("behind the end: %q", rest)
		}
		for _, bad := range []string{"x", "1", "1.x", "-1.2", "1.-2", "1.2.3"} {
			if p, err := joblog.ParsePlace(bad); err == nil {
				t.Errorf("%q is %v", bad, p)
			}
		}
	})
}

func TestFollowWaitsForMoreAndEndsWithTheLog(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wake := make(chan struct{}, 1)
		over := make(chan struct{})
		add(t, b, 0, "0")
		step := 0
		live := joblog.Live{Wake: wake, Ended: func(context.Context) (bool, error) {
			select {
			case <-over:
				return true, nil
			default:
				return false, nil
			}
		}}
		var got []string
		for line, err := range joblog.Follow(ctx, b, log, joblog.Place{}, live) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line.Text)
			// The next chunk is added after the one before was read.
			if step++; step < 5 {
				add(t, b, step, fmt.Sprint(step))
				if step == 4 {
					close(over)
				}
				wake <- struct{}{}
			}
		}
		if ctx.Err() != nil || !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("%q, %v", got, ctx.Err())
		}
	})
}

func TestFollowEndsWithItsReader(t *testing.T) {
	b := blobtest.Folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	add(t, b, 0, "0")
	for _, err := range joblog.Follow(ctx, b, log, joblog.Place{}, joblog.Live{}) {
		if err != nil {
			t.Errorf("the end of the reader is an error: %v", err)
		}
		cancel()
	}
	broken := errors.New("who knows")
	for _, err := range joblog.Follow(t.Context(), b, log, joblog.Place{}, joblog.Live{Ended: func(context.Context) (bool, error) { return false, broken }}) {
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzChunk(f *testing.F) {
	f.Add([]byte(`{"at":"2026-11-15T08:00:00Z","stream":"stdout","text":"x"}` + "\n{\"cut"))
	f.Add([]byte("\n\n\x00\xff"))
	b, err := blob.Open(context.Background(), f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		raw(t, b, 0, string(chunk))
		all, _ := texts(t, joblog.Read(t.Context(), b, log, joblog.Place{}))
		if n := strings.Count(string(chunk), "\n") + 1; len(all) > n {
			t.Errorf("%d lines of %d", len(all), n)
		}
		for _, text := range all {
			if !utf8.ValidString(text) {
				t.Errorf("%q", text)
			}
		}
	})
}

// A log of short lines costs about its text, and chunks of earlier releases are read
// beside compressed ones.
func TestChunksAreCompressed(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		add(t, b, 0, "as it was before")
		var lines []byte
		var want []string
		for n := range 2000 {
			want = append(want, fmt.Sprintf("frame %d", n))
			lines = joblog.Append(lines, joblog.Line{At: when.Add(time.Duration(n) * 37 * time.Millisecond), Stream: joblog.Stdout, Text: want[n]})
		}
		packed := joblog.Pack(lines)
		if text := len(strings.Join(want, "\n")); len(packed) > text {
			t.Errorf("%d bytes of text cost %d", text, len(packed))
		}
		raw(t, b, 1, string(packed))
		raw(t, b, 2, string(packed[:len(packed)/2])) // cut in transport
		var got []string
		var last error
		for line, err := range joblog.Read(t.Context(), b, log, joblog.Place{}) {
			if last = err; err == nil {
				got = append(got, line.Text)
			}
		}
		if len(got) < 2001 || got[0] != "as it was before" || !slices.Equal(got[1:2001], want) || last == nil {
			t.Errorf("%d lines, then %v", len(got), last)
		}
		if short := joblog.Pack([]byte("{}\n")); string(short) != "{}\n" {
			t.Errorf("a short one is %q", short)
		}
	})
}

// Pages go back from the end to the beginning, and each line is on one of them.
func TestPagesOfALogGoBack(t *testing.T) {
	b := blobtest.Folder(t)
	var want []string
	for chunk := range 5 {
		var part []string
		for line := range 7 {
			part = append(part, fmt.Sprintf("%d.%d", chunk, line))
		}
		add(t, b, chunk, part...)
		want = append(want, part...)
	}
	for _, n := range []int{1, 3, 7, 10, 100} {
		page, err := joblog.Tail(t.Context(), b, log, n)
		var got []string
		for ; err == nil && len(page) > 0; page, err = joblog.Before(t.Context(), b, log, page[0].Place, n) {
			var texts []string
			for _, line := range page {
				texts = append(texts, line.Text)
			}
			got = append(texts, got...)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("by %d: %q, %v", n, got, err)
		}
	}
	found, _ := texts(t, joblog.Find(joblog.Read(t.Context(), b, log, joblog.Place{}), func(text string) bool { return strings.HasSuffix(text, ".3") }))
	if !slices.Equal(found, []string{"0.3", "1.3", "2.3", "3.3", "4.3"}) {
		t.Errorf("found %q", found)
	}
}
