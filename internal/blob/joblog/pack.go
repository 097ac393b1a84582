package joblog

import (
	"bufio"
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// magic begins a chunk that is compressed. A line of JSON begins with a brace.
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// unpackMost is how much memory reading a chunk may take. An agent ships at most some
// hundred KiB in one.
const unpackMost = 32 << 20

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // its options are constants
	return e
})

// Pack returns a chunk as it is stored: compressed, unless that makes it no smaller.
func Pack(lines []byte) []byte {
	if packed := packer().EncodeAll(lines, nil); len(packed) < len(lines) {
		return packed
	}
	return lines
}

// unpack returns the lines of a chunk. Chunks of earlier releases are not compressed.
// end ends the reader, not the body.
func unpack(body io.Reader) (lines *bufio.Reader, end func(), err error) {
	raw := bufio.NewReaderSize(body, 64<<10)
	if head, _ := raw.Peek(len(magic)); !bytes.Equal(head, magic) { // an error is met again by the reader
		return raw, func() {}, nil
	}
	d, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(unpackMost))
	if err != nil {
		return nil, nil, err
	}
	return bufio.NewReaderSize(d, 64<<10), d.Close, nil
}
