package stream

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/timeline"
)

// frameOf returns an event in the form in which it is sent.
func frameOf(e *timeline.Event) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		// Only Data can be invalid, and it comes from a jsonb column.
		data, _ = json.Marshal(map[string]any{"cursor": e.Cursor, "seq": e.Seq, "at": e.At, "type": e.Type, "kind": e.Kind, "level": e.Level})
	}
	var b bytes.Buffer
	b.Grow(len(data) + len(e.Cursor) + len(e.Type) + 32)
	b.WriteString("id: ")
	b.WriteString(string(e.Cursor))
	b.WriteString("\nevent: ")
	b.WriteString(oneLine.Replace(e.Type))
	b.WriteString("\ndata: ")
	b.Write(data)
	b.WriteString("\n\n")
	return b.Bytes()
}

// oneLine keeps a type, which any program may choose, from ending its line.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ")

// opening tells the client how soon to reconnect, and where the stream begins: a block
// with an id and no data moves the client's last id and is no event.
func opening(at weir.Cursor) []byte { return []byte("retry: 1000\nid: " + string(at) + "\n\n") }

// beatOf keeps the connection alive, and tells the client up to where all was sent.
func beatOf(at weir.Cursor) []byte { return []byte(":beat\nid: " + string(at) + "\n\n") }
