package pgparse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/wasilibs/go-pgquery/parser"
)

// Patience is how long one text may take. A megabyte of SQL takes some seconds.
const Patience = time.Minute

// ErrTooDeep says that the parser had not enough stack for a text.
var ErrTooDeep = errors.New("the text nests too deep for the parser")

// Refusal is the parser's word on a text that is not SQL.
type Refusal = parser.Error

var (
	mu sync.Mutex
	// kept is the instance for the next text, nil before the first and after one
	// that spoiled it.
	kept *instance
)

// JSON is the parse tree of a text. The error is a *Refusal, ErrTooDeep, or what
// kept the parser from its work.
func JSON(sql string) (string, error) {
	mu.Lock()
	defer mu.Unlock()
	if kept == nil {
		// The first load on a machine compiles the parser, which no text is to blame for.
		in, err := load(context.Background())
		if err != nil {
			return "", fmt.Errorf("load PostgreSQL's parser: %w", err)
		}
		kept = in
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	tree, refusal, err := kept.parse(ctx, sql)
	if err != nil {
		kept.drop()
		kept = nil
		if ctx.Err() != nil {
			return "", fmt.Errorf("PostgreSQL's parser did not come to an end: %w", ctx.Err())
		}
		return "", ErrTooDeep // the only trap that a text can bring about
	}
	if refusal != nil {
		return "", refusal
	}
	return tree, nil
}

// parse calls the module. An error means that the instance is spoiled.
func (in *instance) parse(ctx context.Context, sql string) (tree string, refusal *Refusal, err error) {
	ctx = checkpoints(ctx)
	text, err := in.call(ctx, "malloc", uint64(len(sql)+1))
	if err != nil {
		return "", nil, err
	}
	memory := in.module.Memory()
	if !memory.WriteString(uint32(text), sql) || !memory.WriteByte(uint32(text)+uint32(len(sql)), 0) { // #nosec G115 -- addresses of a 32-bit machine
		return "", nil, errMemory
	}
	// struct { char *tree; char *notes; struct error *error; }
	result, err := in.call(ctx, "malloc", 12)
	if err != nil {
		return "", nil, err
	}
	if _, err := in.call(ctx, "pg_query_parse", result, text); err != nil {
		return "", nil, err
	}
	raw, ok := memory.Read(uint32(result), 12) // #nosec G115 -- as above
	if !ok {
		return "", nil, errMemory
	}
	treeAt, errorAt := binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[8:])
	if errorAt != 0 {
		refusal, err = refusalAt(memory, errorAt)
	} else {
		tree, err = textAt(memory, treeAt)
	}
	if err != nil {
		return "", nil, err
	}
	if _, err := in.call(ctx, "pg_query_free_parse_result", result); err != nil {
		return "", nil, err
	}
	for _, at := range []uint64{result, text} {
		if _, err := in.call(ctx, "free", at); err != nil {
			return "", nil, err
		}
	}
	return tree, refusal, nil
}

// refusalAt reads struct { char *message, *function, *file; int line, cursor; char *context; }.
func refusalAt(memory api.Memory, at uint32) (*Refusal, error) {
	raw, ok := memory.Read(at, 24)
	if !ok {
		return nil, errMemory
	}
	message, err := textAt(memory, binary.LittleEndian.Uint32(raw))
	if err != nil {
		return nil, err
	}
	return &Refusal{Message: message, Cursorpos: int(binary.LittleEndian.Uint32(raw[16:]))}, nil
}

// textAt reads a C string.
func textAt(memory api.Memory, at uint32) (string, error) {
	for end := at; ; end++ {
		b, ok := memory.ReadByte(end)
		switch {
		case !ok:
			return "", errMemory
		case b == 0:
			raw, _ := memory.Read(at, end-at)
			return string(raw), nil
		}
	}
}
