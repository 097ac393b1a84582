package definition

// Syntax describes what is wrong with YAML that the parser refused, and where. It is for
// other files than definitions, whose authors need the same messages.
func Syntax(file string, source []byte, err error) Fault {
	f := syntax(source, err)
	f.File = file
	return f
}
