package definition

// Syntax says what is wrong with YAML that the parser refused, and where: for files
// beside definitions, whose writers need the same words.
func Syntax(file string, source []byte, err error) Fault {
	f := syntax(source, err)
	f.File = file
	return f
}
