package home

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Format is the version of what Pack writes. Another one is refused.
const Format = 1

// Meta is what is kept beside an archive. It is stored last: an archive without it
// does not exist.
type Meta struct {
	Format int    `json:"format"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Summary
}

// Readable is an error if this version cannot read such an archive.
func (m Meta) Readable() error {
	if m.Format != Format {
		return refuse("it is of format %d, and this version reads %d", m.Format, Format)
	}
	return nil
}

// Seal lets an archive be written to w, and describes what was written.
func Seal(w io.Writer, write func(io.Writer) (Summary, error)) (Meta, error) {
	sum, size := sha256.New(), &counted{}
	holds, err := write(io.MultiWriter(w, sum, size))
	if err != nil {
		return Meta{}, err
	}
	return Meta{Format: Format, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size.n, Summary: holds}, nil
}

func (c *counted) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// Summary is what an archive holds.
type Summary struct {
	// Entries counts files, folders and links, with the folder itself.
	Entries int64 `json:"entries"`
	// Bytes is how long all files are, with their holes.
	Bytes int64 `json:"bytes"`
	// Left names what Pack could not keep, at most so many as leftNames.
	Left []string `json:"left,omitempty"`
	// LeftOut counts them all.
	LeftOut int64 `json:"left_out,omitempty"`
}

const leftNames = 20

func (s *Summary) leave(name, why string) {
	s.LeftOut++
	if len(s.Left) < leftNames {
		s.Left = append(s.Left, fmt.Sprintf("%q: %s", name, why))
	}
}

// Limits bounds what an archive may hold. A zero is the default.
type Limits struct {
	// Entries is how many files, folders and links.
	Entries int64
	// Bytes is how long all files may be together, with their holes.
	Bytes int64
	// Ratio is how many times as long as the archive its content may be, without
	// holes. The first MiB is free.
	Ratio int64
}

const (
	defaultEntries = 10_000_000
	defaultBytes   = 1 << 40
	// Zeros shrink to about one in 17,000 with zstd; text to one in ten.
	defaultRatio = 20_000
	freeRatio    = 1 << 20
	// maxDepth is how many folders may be within one another: each is an open
	// file while it is packed.
	maxDepth = 512
	maxName  = 255
	maxPath  = 128 << 10
	maxLink  = 4095
)

func (l Limits) filled() Limits {
	if l.Entries <= 0 {
		l.Entries = defaultEntries
	}
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	if l.Ratio <= 0 {
		l.Ratio = defaultRatio
	}
	return l
}
