package program

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/weirhq/weir/internal/workspace/inside/relay"
)

// relayed carries connections to a port, until its input ends.
func relayed(args []string, s Streams) error {
	if len(args) != 1 {
		return errors.New("relay: name one port")
	}
	port, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	return relay.Serve(pair{s.In, s.Out}, uint16(port))
}

// pair is the input and the output as one.
type pair struct {
	io.Reader
	io.Writer
}

// Close closes the input, if it can be: the other side has gone by then.
func (p pair) Close() error {
	if c, ok := p.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
