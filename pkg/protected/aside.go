package protected

// Where the sandbox keeps what it has put aside: beside the file, under its name
// with AsideSuffix and random digits, which a command cannot use up; or in the
// directory AsideFolder of ethos's own directory, where the last component of its
// path has AsideEnding.
const (
	AsideSuffix = ".ethos-quarantine-"
	AsideFolder = "quarantine"
	AsideEnding = ".quarantined"
)
