package workspaces

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

const (
	// smallMean is the mean size of a small file, largeMean that of a large one.
	smallMean, largeMean = 8 << 10, 8 << 20
	// perFolder is how many small files are in one folder.
	perFolder = 50
)

// fill writes a home of the given size: a fifth of it in small files of text, two fifths
// in large ones, and two fifths in large ones that cannot be compressed.
func fill(folder string, size int64) error {
	random := rand.New(rand.NewPCG(7, uint64(size)))
	text := prose(random, 4<<20)
	written := func(into []byte) { copy(into, text[random.IntN(len(text)-len(into)):]) }
	noise := rand.NewChaCha8([32]byte{7})
	for _, part := range []struct {
		kind string
		size int64
		mean int
		what func([]byte)
	}{
		{"src", size / 5, smallMean, written},
		{"log", size * 2 / 5, largeMean, written},
		{"pack", size * 2 / 5, largeMean, func(into []byte) { _, _ = noise.Read(into) }}, // never fails
	} {
		if err := write(filepath.Join(folder, part.kind), part.size, part.mean, random, part.what); err != nil {
			return err
		}
	}
	return nil
}

// write writes files of the given total size, in blocks that what fills. A number before
// each block makes all blocks different.
func write(folder string, size int64, mean int, random *rand.Rand, what func(into []byte)) error {
	block, file := make([]byte, 128<<10), bytes.Buffer{}
	for n := 0; size > 0; n++ {
		in := filepath.Join(folder, fmt.Sprintf("%04d", n/perFolder))
		if n%perFolder == 0 {
			if err := os.MkdirAll(in, 0o755); err != nil {
				return err
			}
		}
		file.Reset()
		for want := int(min(int64(mean/2+random.IntN(mean)), size)); file.Len() < want; {
			fmt.Fprintf(&file, "%d %d\n", n, random.Uint64())
			part := block[:min(len(block), max(want-file.Len(), 1))]
			what(part)
			file.Write(part)
		}
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("file-%d", n)), file.Bytes(), 0o644); err != nil {
			return err
		}
		size -= int64(file.Len())
	}
	return nil
}

// prose returns text of made-up words, the common ones more often, as in programs and
// logs.
func prose(random *rand.Rand, size int) []byte {
	words := make([][]byte, 4000)
	for i := range words {
		word := make([]byte, 2+random.IntN(9))
		for j := range word {
			word[j] = byte('a' + random.IntN(26))
		}
		words[i] = word
	}
	var text bytes.Buffer
	for line := 0; text.Len() < size; line++ {
		for range 4 + random.IntN(10) {
			text.Write(words[int(float64(len(words))*random.Float64()*random.Float64()*random.Float64())])
			text.WriteByte(' ')
		}
		fmt.Fprintf(&text, "%d\n", random.IntN(100000))
	}
	return text.Bytes()
}

// measured returns the number and the size of the files in a folder.
func measured(folder string) (files int, size int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files, size = files+1, size+info.Size()
		}
		return err
	})
	return files, size, err
}
