package mutate

// sdkRows are the guards of the Go SDK.
var sdkRows = []Row{}
