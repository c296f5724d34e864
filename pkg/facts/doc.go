// Package facts combines the results of the analysers into the facts of an action's record. Begin
// with [New] and [Deriver.Derive].
//
//	d, err := facts.New(facts.Options{Home: home})
//	action, err = d.Place(action)          // determines cwd and work space
//	f, err := d.Derive(action, actor)      // record.Facts
//
// # Contract
//
// Facts are typed and deterministic, and contain no judgement: the same action, file system and
// options give the same facts. The package executes nothing and uses no network. It opens only
// directories, git's own small files and repo_config.yaml, and, if runs are recorded, the code that
// would be executed. What could not be established is named in Facts.Incomplete and never assumed
// harmless. If a repo_config.yaml is not valid, Derive returns an error and no facts.
//
// # Which capabilities are effective
//
// An exec action that is a managed tool gets what the catalog declares for it. So does a shell
// action in which every command is that tool, or a program that only reads its output (head, grep,
// jq …), if nothing is redirected into a file. Every other action gets the profile agent-shell if
// an agent asks, and otherwise the profile work space. --profile and --tool override this;
// repo_config.yaml and --grant widen it. Each of these sources is named in granted_by.
//
// # Limits
//
// The file system may change between these facts and the run, so the sandbox does not rely on them.
// Paths are resolved with the rights of this process. A [Deriver] is not safe for concurrent use.
package facts
