// Package catalog knows tools: which command line means which, what each may use
// of the machine, and what a repository says of itself.
//
// [Catalog.Match] finds the tool of a command line, [ParseConfig] reads a
// repo_config.yaml, [Ask] puts a tool into the request of an action, of which
// package capability makes the effective set.
//
// The tools are data (data/*.yaml), compiled ahead into pkg/catalog/shipped,
// which has no YAML in it.
//
// # Contract
//
// A tool's declaration is its profile, narrowed; never more. Its tags and
// requires_* follow from the declaration, not from its name.
// [Config.Widenings] is what of the file needs a person's trust,
// [Config.Bounded] what holds without. A configuration file that is not valid in
// every part is an error with the line and the key, and then nothing of it is
// used.
//
// # Limits
//
// Matching reads words, not files: a program of the same name is taken for the
// tool. A tool that reaches the network is therefore matched only by its bare
// name or from a system directory; everything else a tool is given is within
// what the work space itself may do.
package catalog
