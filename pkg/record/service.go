package record

// Service is what a command does to a service: a cluster, a cloud, a database,
// a registry, a backup.
type Service struct {
	System      string `json:"system" required:"true"` // kubernetes, aws, postgresql, …
	Operation   string `json:"operation"`              // as it was asked for: "delete", "s3 rm", "DROP TABLE"
	Effect      string `json:"effect" required:"true"` // destroy, remove, publish, change, reveal
	Target      string `json:"target"`                 // what it names next; "" when none or not static
	Destructive bool   `json:"destructive"`            // something is gone afterwards
	Reversible  bool   `json:"reversible"`             // it can be made again, or set back
}
