package definition

import (
	_ "embed"
	"encoding/json"
)

//go:embed workflow.schema.json
var published []byte

// Schema returns the JSON Schema of a definition, for editors and other tools. It
// describes what [Parse] accepts; [Definition.Lint] checks the meaning.
func Schema() json.RawMessage { return json.RawMessage(published) }
