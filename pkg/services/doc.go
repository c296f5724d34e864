// Package services knows what command lines do to services: clusters, clouds,
// databases, registries, backups and the like, whose data cannot be restored by
// undoing changes to files.
//
//	for _, s := range services.Find(&command, nil) { … s.System, s.Operation … }
//
// Its knowledge is data: table.txt has a line for each form of a command, and
// its head explains the syntax. Database statements are tokenised, in an option
// or on standard input ([record.Command.Code]). HTTP requests are recognised by
// their method and by the port of the service.
//
// It reads one command and nothing else. It does not report what it does not
// know: a word that is not static is never a verb.
package services
