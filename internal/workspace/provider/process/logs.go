package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/weirhq/weir"
)

// readMost is how far back Logs reads.
const readMost = 1 << 20

// Logs writes the last lines of the log.
func (p *Provider) Logs(_ context.Context, id weir.ID, lines int, to io.Writer) error {
	f, err := os.Open(p.log(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("logs: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("logs: %w", err)
	}
	from := max(0, info.Size()-readMost)
	text := bufio.NewReader(io.NewSectionReader(f, from, readMost))
	if from > 0 {
		_, err = text.ReadString('\n') // it is not whole
	}
	var last []string
	for err == nil {
		var line string
		if line, err = text.ReadString('\n'); line != "" {
			last = append(last, line)
		}
		last = last[max(0, len(last)-lines):]
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("logs: %w", err)
	}
	for _, line := range last {
		if _, err := io.WriteString(to, line); err != nil {
			return fmt.Errorf("logs: %w", err)
		}
	}
	return nil
}
