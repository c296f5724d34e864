// Package services knows what command lines do to services: to clusters,
// clouds, databases, registries, backups and the like, whose data no undo of
// the file system brings back.
//
//	for _, s := range services.Find(&command) { … s.System, s.Operation … }
//
// What it knows is data: table.txt has a line for each form of a command, and
// its head says how lines are written. Statements of databases are read by
// their own tokens, in an option or on standard input ([record.Command.Code]).
// Requests are known by their method and by the port of the service.
//
// It reads one command and nothing else. What it does not know it does not
// report: a word that is not static is no verb.
package services
