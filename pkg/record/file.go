package record

// File is one path of a file tool, or of a shell read or write, resolved in the real file system.
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
	// Origin is absent unless a run that could reach the network is known to have written the file.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin says which run, one that could reach the network, has written a file.
type Origin struct {
	Action   string `json:"action"`             // the id of its record; "" if none was kept
	Agent    string `json:"agent"`              // the agent that asked for it; "" if not known
	Network  string `json:"network"`            // proxy or host
	Executed bool   `json:"executed,omitempty"` // the action would run or source the file
	Reviewed bool   `json:"reviewed"`           // a person has reviewed this content of it
}
