package mutate

// flowRows are the guards of workflows and schedules.
var flowRows = []Row{}
