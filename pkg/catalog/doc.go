// Package catalog knows tools: which command line means which, what each may use of the machine, and what a repository says of itself.
//
// [Catalog.Match] finds the tool of a command line, [ParseConfig] reads a repo_config.yaml; [Catalog.Grants] is what is in force for an action.
//
// The tools and profiles are data (data/*.yaml), compiled ahead into pkg/catalog/shipped, which has no YAML in it and is what a program
// that only runs commands imports. The order of capabilities is in pkg/capability.
//
// # Contract
//
// A tool's declaration is its profile, narrowed; never more. Its tags and requires_* follow from the declaration, not from its name. Nothing widens but
// repo_config.yaml, --profile and --grant, and each widening is named in granted_by. [Config.Widenings] is what of the file needs a person's
// trust, [Config.Bounded] what holds without. A configuration file that is not valid in every part is an
// error with the line and the key, and then nothing of it is used.
//
// # Limits
//
// Matching reads words, not files: a program of the same name is taken for the tool. A tool that reaches the network is therefore matched only by its
// bare name or from a system directory; everything else a tool is given is within what the work space itself may do.
package catalog
