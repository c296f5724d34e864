// Package facts joins what the analysers know of an action into the facts of its record.
//
//	d, err := facts.New(facts.Options{Home: home})
//	action, err = d.Place(action)          // settles cwd and work space
//	f, err := d.Derive(action, actor)      // record.Facts
//
// # Contract
//
// Facts are typed, deterministic and without judgement: the same action, file system and options give the same facts. Nothing is executed, no network is used,
// nothing but directories, git's own small files and repo_config.yaml is opened. What could not be established is named in Facts.Incomplete,
// never assumed harmless; a repo_config.yaml that is not valid is an error, and then there are no facts.
//
// # Which capabilities are in force
//
// An exec action that is a managed tool gets what the catalog declares for it. So does a shell action whose every command is that tool, beside
// programs that only look at its output (head, grep, jq …), when nothing is redirected into a file. Every other action gets the profile agent-shell when an
// agent asks, else workspace. --profile and --tool decide otherwise; repo_config.yaml and --grant widen. Each of these is in granted_by.
//
// # Limits
//
// The file system may change between these facts and the run: the sandbox does not rely on them. Paths are looked up with the rights of this
// process. A [Deriver] is not safe for concurrent use.
package facts
