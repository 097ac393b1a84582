package mutate

// serverRows are the guards of the server: who asks, what nodes may do, the lead.
var serverRows = []Row{}
