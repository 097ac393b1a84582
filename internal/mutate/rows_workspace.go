package mutate

// workspaceRows are the guards of workspaces.
var workspaceRows = []Row{}
