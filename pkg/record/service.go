package record

// Service is the operation of a command on a service: a cluster, a cloud, a database, a registry, a
// backup.
type Service struct {
	System      string `json:"system" required:"true"` // kubernetes, aws, postgresql, …
	Operation   string `json:"operation"`              // as requested: "delete", "s3 rm", "DROP TABLE"
	Effect      string `json:"effect" required:"true"` // destroy, remove, publish, change, reveal
	Target      string `json:"target"`                 // the next word that it names; "" if none or not static
	Destructive bool   `json:"destructive"`            // something no longer exists afterwards
	Reversible  bool   `json:"reversible"`             // it can be created again, or undone
}
