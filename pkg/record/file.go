package record

// File is one path of a file tool, or of a shell read or write, looked up in the real tree.
type File struct {
	Op                string `json:"op" required:"true"`
	Path              string `json:"path" required:"true"`
	Resolved          string `json:"resolved"` // absolute, symlinks followed
	WorkspaceRelative string `json:"workspace_relative,omitempty"`
	InsideWorkspace   bool   `json:"inside_workspace"`
	Outside           bool   `json:"outside,omitempty"` // neither there, nor in a temporary directory or a cache
	ViaSymlink        bool   `json:"via_symlink"`
	Protected         string `json:"protected"` // "" | git | agent-settings | ethos | ethos-program | ethos-state | credentials | shell-startup | ci
	Exists            bool   `json:"exists"`
	// Origin is absent where it is not known that a run has written the file which could reach the network.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin is where a file came from: a run that could reach the network.
type Origin struct {
	Action   string `json:"action"`             // the id of its record; "" where none was kept
	Agent    string `json:"agent"`              // who asked for it; "" where that is not known
	Network  string `json:"network"`            // proxy or host
	Executed bool   `json:"executed,omitempty"` // the action would run or source the file
	Reviewed bool   `json:"reviewed"`           // a person has looked at this content of it, and said so
}
