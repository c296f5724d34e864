// Package catalog identifies tools: which command line is which tool, what each tool may use of the
// machine, and what a repository configures.
//
// Begin with [Catalog.Match], which finds the tool of a command line, and [ParseConfig], which
// parses a repo_config.yaml. [Ask] adds a tool to the request of an action, from which package
// capability computes the effective set.
//
// The tools are data (data/*.yaml), compiled ahead into pkg/catalog/shipped, which contains no
// YAML.
//
// # Contract
//
// The declaration of a tool narrows its profile and never widens it. The tool's tags and requires_*
// follow from the declaration, not from its name. [Config.Widenings] lists the values of the file
// that need a person's trust; [Config.Bounded] is what applies without it. If any part of a
// configuration file is not valid, the error names the line and the key, and nothing of the file is
// used.
//
// # Limits
//
// Matching reads words, not files: another program of the same name is taken for the tool. A tool
// with network access is therefore matched only by its bare name or from a system directory.
// Everything else that a tool gets is within what the work space itself may do.
package catalog
