package wire

import (
	"time"

	"github.com/weirhq/weir/internal/node"
)

// MostLog is how many bytes one piece of a log may have.
const MostLog = 8 << 20

// Held is a request about one lease.
type Held struct {
	Lease Lease `json:"lease"`
}

// Secrets are values by their names. They are never logged and never stored.
type Secrets struct {
	Secrets map[string]string `json:"secrets"`
}

// Log is a piece of the log of an attempt: lines of JSON.
type Log struct {
	Lease Lease     `json:"lease"`
	Seq   int       `json:"seq" minimum:"0" doc:"The same number again writes the same piece."`
	Lines []byte    `json:"lines" doc:"Lines of JSON, in base64."`
	From  time.Time `json:"from,omitzero"`
	To    time.Time `json:"to,omitzero"`
	Quiet bool      `json:"quiet,omitempty" doc:"Keep it without an event: another follows soon."`
	// Before counts the lines that were stored quietly.
	Before int `json:"before,omitempty" minimum:"0" doc:"How many lines were kept quietly before."`
}

// LogOf converts a piece of a log for sending.
func LogOf(l node.Lease, c node.LogChunk) Log {
	return Log{LeaseOf(l), c.Seq, c.Lines, c.From, c.To, c.Quiet, c.Before}
}

// Node converts the piece for the server.
func (l Log) Node() node.LogChunk {
	return node.LogChunk{Seq: l.Seq, Lines: l.Lines, From: l.From, To: l.To, Quiet: l.Quiet, Before: l.Before}
}

// Object is an object that an attempt made.
type Object struct {
	Kind        string `json:"kind" enum:"input,output,log"`
	Name        string `json:"name" minLength:"1" maxLength:"900"`
	Size        int64  `json:"size" minimum:"0"`
	ContentType string `json:"content_type,omitempty" maxLength:"200"`
	SHA256      string `json:"sha256,omitempty" maxLength:"64" pattern:"^([0-9a-f]{64})?$" patternDescription:"64 hexadecimal digits"`
}

// ObjectOf converts the object for sending.
func ObjectOf(m node.ArtifactMeta) Object {
	return Object{m.Kind, m.Name, m.Size, m.ContentType, m.SHA256}
}

// Node converts the object for the server.
func (a Object) Node() node.ArtifactMeta {
	return node.ArtifactMeta{Kind: a.Kind, Name: a.Name, Size: a.Size, ContentType: a.ContentType, SHA256: a.SHA256}
}

// Offer is an artifact that needs an address, or was uploaded to one.
type Offer struct {
	Lease  Lease  `json:"lease"`
	Object Object `json:"artifact"`
}

// Place says where to send the bytes.
type Place struct {
	URL string `json:"url,omitempty" doc:"Put the bytes there, then commit. Absent: put them to the server."`
}

// InputObject is an object that an earlier step made and this one needs.
type InputObject struct {
	Step   string `json:"step"`
	Name   string `json:"name"`
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty" doc:"What the bytes must be. Absent: nobody knows."`
}

// Inputs are all inputs of a task.
type Inputs struct {
	Items []InputObject `json:"items"`
}

// InputsOf converts inputs for sending.
func InputsOf(list []node.InputObject) Inputs {
	return Inputs{each(list, func(i node.InputObject) InputObject { return InputObject(i) })}
}

// Node converts the inputs for the agent.
func (i Inputs) Node() []node.InputObject {
	return each(i.Items, func(i InputObject) node.InputObject {
		return node.InputObject(i)
	})
}

// Wanted asks for the bytes of an input.
type Wanted struct {
	Lease Lease  `json:"lease"`
	Key   string `json:"key" minLength:"1" maxLength:"2000"`
	// Through asks for the bytes themselves, for a node that does not reach the bucket.
	Through bool `json:"through,omitempty"`
}
