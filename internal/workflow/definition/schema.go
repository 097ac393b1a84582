package definition

import (
	_ "embed"
	"encoding/json"
)

//go:embed workflow.schema.json
var published []byte

// Schema is the JSON Schema of a definition, for editors and other tools. It
// says what [Parse] takes; sense is for [Definition.Lint].
func Schema() json.RawMessage { return json.RawMessage(published) }
