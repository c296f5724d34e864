package shell

import "sort"

// maxWrappers is the highest ordinary number of wrappers around one command: sudo env timeout nice.
const maxWrappers = 4

// wrapKind says where in a wrapper's words the command is that it runs.
type wrapKind uint8

const (
	wrapPlain    wrapKind = iota // after the options, and skip operands
	wrapAssign                   // after the options, and any NAME=VALUE
	wrapBuiltin                  // as plain, but in the same shell
	wrapShell                    // as plain; without a command it starts a shell
	wrapSu                       // -c CODE, and a user
	wrapString                   // operands joined are code for a shell
	wrapFlock                    // FILE COMMAND…, FILE -c CODE, or FD
	wrapXargs                    // COMMAND, and words from standard input
	wrapFind                     // -exec COMMAND ;
	wrapParallel                 // COMMAND ::: ARGUMENTS
	wrapScript                   // -c CODE
	wrapArch                     // [ARCH] COMMAND
	wrapNetns                    // netns exec NAME COMMAND
	wrapCarrier                  // SUBCOMMAND COMMAND…: uv run pytest
	wrapDirect                   // as carrier, but without a subcommand: npx tsc
	wrapAfter                    // the command follows one of the options in query
	wrapOption                   // the argument of one of the options in query is code for a shell
	wrapTerminal                 // SUBCOMMAND, and operands that are code for a shell: tmux
	wrapInput                    // standard input is code for a shell: at
	wrapSandbox                  // run COMMAND, or shell -c CODE
)

// wrapper is a program that runs the command it is given. The grammars are those of the manual
// pages.
type wrapper struct {
	name string
	kind wrapKind
	skip int // operands before the command
	grammar
	query string // words separated by spaces: options with which no command is run; for some kinds the words before it
}

// wrappers is sorted by name.
var wrappers = [...]wrapper{
	{name: "aa-exec", kind: wrapPlain, grammar: grammar{short: "p:n:", long: "profile= namespace="}},
	{name: "alacritty", kind: wrapAfter, query: "-e --command"},
	{name: "arch", kind: wrapPlain, grammar: grammar{short: "d:e:", long: "arch="}},
	{name: "asdf", kind: wrapCarrier, query: "exec"},
	{name: "at", kind: wrapInput, query: "l d r c"},
	{name: "aws-vault", kind: wrapCarrier, skip: 1, query: "exec", grammar: grammar{short: "d:t:", long: "duration= mfa-token="}},
	{name: "batch", kind: wrapInput},
	{name: "builtin", kind: wrapBuiltin},
	{name: "bun", kind: wrapCarrier, query: "x exec"},
	{name: "bundle", kind: wrapCarrier, query: "exec"},
	{name: "bundler", kind: wrapCarrier, query: "exec"},
	{name: "bunx", kind: wrapDirect, grammar: grammar{long: "bun"}},
	{name: "busybox", kind: wrapPlain, query: "list list-full install help"},
	{name: "bwrap", kind: wrapAfter},
	{name: "cabal", kind: wrapCarrier, query: "exec"},
	{name: "caffeinate", kind: wrapPlain, grammar: grammar{short: "t:w:"}},
	{name: "capsh", kind: wrapAfter, query: "-- =="},
	{name: "catchsegv", kind: wrapPlain},
	{name: "ccache", kind: wrapPlain},
	{name: "cgexec", kind: wrapPlain, grammar: grammar{short: "g:"}},
	{name: "chamber", kind: wrapAfter, query: "--"},
	{name: "choom", kind: wrapPlain, grammar: grammar{short: "n:p:", long: "adjust= pid="}, query: "p pid"},
	{name: "chpst", kind: wrapPlain, grammar: grammar{short: "u:U:b:e:/:C:n:l:L:m:d:o:p:f:c:t:a:r:"}},
	{name: "chronic", kind: wrapPlain},
	{name: "chroot", kind: wrapShell, skip: 1, grammar: grammar{long: "groups= userspec= skip-chdir"}},
	{name: "chrt", kind: wrapPlain, skip: 1, grammar: grammar{short: "T:P:D:", long: "sched-runtime= sched-period= sched-deadline= pid max"}, query: "p pid m max"},
	{name: "cmake", kind: wrapAfter, query: "-E"},
	{name: "command", kind: wrapBuiltin, query: "v V"},
	{name: "composer", kind: wrapCarrier, query: "exec"},
	{name: "concurrently", kind: wrapString, grammar: grammar{short: "n:c:l:s:m:p:t:", long: "names= prefix= prefix-colors= success= max-processes= kill-others kill-others-on-fail raw"}},
	{name: "conda", kind: wrapCarrier, query: "run", grammar: grammar{short: "n:p:", long: "name= prefix= cwd= no-capture-output live-stream"}},
	{name: "cpulimit", kind: wrapPlain, grammar: grammar{short: "l:p:e:P:", long: "limit= pid= exe= path="}},
	{name: "cross-env", kind: wrapAssign},
	{name: "daemonize", kind: wrapPlain, grammar: grammar{short: "c:e:o:p:l:u:E:"}},
	{name: "dbus-launch", kind: wrapPlain, grammar: grammar{long: "auto-syntax binary-syntax close-stderr exit-with-session sh-syntax"}},
	{name: "dbus-run-session", kind: wrapPlain, grammar: grammar{long: "config-file= dbus-daemon="}},
	{name: "direnv", kind: wrapCarrier, skip: 1, query: "exec"},
	{name: "distcc", kind: wrapPlain},
	{name: "distrobox", kind: wrapAfter, query: "-- -e --exec"},
	{name: "doas", kind: wrapAssign, grammar: grammar{short: "C:u:a:"}, query: "C L s"},
	{name: "doppler", kind: wrapCarrier, query: "run"},
	{name: "dotenv", kind: wrapPlain, grammar: grammar{short: "f:e:"}},
	{name: "dotenvx", kind: wrapCarrier, query: "run"},
	{name: "dtach", kind: wrapPlain, grammar: grammar{short: "A:a:c:n:N:p:r:e:"}, query: "a p"},
	{name: "dumb-init", kind: wrapPlain, grammar: grammar{short: "r:", long: "rewrite="}},
	{name: "dune", kind: wrapCarrier, query: "exec", grammar: grammar{long: "root= profile= display="}},
	{name: "eatmydata", kind: wrapPlain},
	{name: "entr", kind: wrapString},
	{name: "env", kind: wrapAssign, grammar: grammar{short: "u:C:S:a:", long: "unset= chdir= split-string= argv0= block-signal? default-signal? ignore-signal? ignore-environment null debug"}},
	{name: "env-cmd", kind: wrapPlain, grammar: grammar{short: "f:r:e:", long: "file= rc-file= environments="}},
	{name: "ethos-sandbox", kind: wrapSandbox}, // see the table of pkg/ethosargs
	{name: "exec", kind: wrapBuiltin, grammar: grammar{short: "a:"}},
	{name: "fakeroot", kind: wrapPlain, grammar: grammar{short: "l:s:i:b:", long: "lib= faked= unknown-is-real fd-base="}},
	{name: "faketime", kind: wrapPlain, skip: 1, grammar: grammar{short: "p:", long: "exclude-monotonic"}},
	{name: "fd", kind: wrapAfter, query: "-x --exec -X --exec-batch", grammar: grammar{short: "d:t:e:E:S:o:c:j:", long: "max-depth= min-depth= exact-depth= type= extension= exclude= size= owner= changed-within= changed-before= changed-after= color= threads= ignore-file= max-results= base-directory= search-path= format= and="}},
	{name: "fdfind", kind: wrapAfter, query: "-x --exec -X --exec-batch", grammar: grammar{short: "d:t:e:E:S:o:c:j:", long: "max-depth= min-depth= exact-depth= type= extension= exclude= size= owner= changed-within= changed-before= changed-after= color= threads= ignore-file= max-results= base-directory= search-path= format= and="}},
	{name: "find", kind: wrapFind},
	{name: "firejail", kind: wrapPlain},
	{name: "flatpak-spawn", kind: wrapPlain, grammar: grammar{long: "env= unset-env= directory= forward-fd= sandbox-expose= sandbox-expose-ro= host clear-env watch-bus"}},
	{name: "flock", kind: wrapFlock, grammar: grammar{short: "w:E:c:", long: "timeout= wait= conflict-exit-code= command= exclusive shared unlock nonblock no-fork close"}},
	{name: "fnm", kind: wrapCarrier, query: "exec", grammar: grammar{long: "using="}},
	{name: "gdb", kind: wrapAfter, query: "--args -args"},
	{name: "gdbserver", kind: wrapPlain, skip: 1, query: "attach multi"},
	{name: "gnome-terminal", kind: wrapAfter, query: "-- -x"},
	{name: "gosu", kind: wrapPlain, skip: 1},
	{name: "grc", kind: wrapPlain, grammar: grammar{short: "c:", long: "config= colour= pty stderr stdout"}},
	{name: "gtimeout", kind: wrapPlain, skip: 1, grammar: grammar{short: "k:s:", long: "kill-after= signal="}},
	{name: "guix", kind: wrapAfter, query: "--"},
	{name: "hatch", kind: wrapCarrier, query: "run", grammar: grammar{short: "e:p:", long: "env= project="}},
	{name: "heaptrack", kind: wrapPlain, grammar: grammar{short: "o:p:", long: "output= pid="}, query: "p pid a analyze"},
	{name: "host-spawn", kind: wrapPlain},
	{name: "hyperfine", kind: wrapString, grammar: grammar{short: "w:m:M:r:s:p:c:S:u:n:", long: "warmup= min-runs= max-runs= runs= setup= prepare= cleanup= parameter-scan= parameter-step-size= parameter-list= shell= style= sort= time-unit= export-asciidoc= export-csv= export-json= export-markdown= export-orgmode= output= input= command-name= ignore-failure"}},
	{name: "i386", kind: wrapPlain},
	{name: "icecc", kind: wrapPlain},
	{name: "ifne", kind: wrapPlain},
	{name: "infisical", kind: wrapCarrier, query: "run"},
	{name: "ionice", kind: wrapPlain, grammar: grammar{short: "c:n:p:P:u:", long: "class= classdata= pid= pgid= uid= ignore"}, query: "p P u pid pgid uid"},
	{name: "ip", kind: wrapNetns},
	{name: "just", kind: wrapAfter, query: "--command -c"},
	{name: "kitty", kind: wrapAfter, query: "-e --"},
	{name: "konsole", kind: wrapAfter, query: "-e"},
	{name: "lerna", kind: wrapCarrier, query: "exec", grammar: grammar{long: "scope= ignore= concurrency="}},
	{name: "linux32", kind: wrapPlain},
	{name: "linux64", kind: wrapPlain},
	{name: "lldb", kind: wrapAfter, query: "--"},
	{name: "logsave", kind: wrapPlain, skip: 1},
	{name: "ltrace", kind: wrapPlain, grammar: grammar{short: "a:A:D:e:F:l:n:o:p:s:u:w:x:X:", long: "align= config= debug= indent= library= output="}, query: "p"},
	{name: "mise", kind: wrapCarrier, query: "exec x", grammar: grammar{short: "C:j:", long: "cd= jobs="}},
	{name: "multitime", kind: wrapPlain, grammar: grammar{short: "f:I:i:n:o:r:s:"}},
	{name: "nice", kind: wrapPlain, grammar: grammar{short: "n:", long: "adjustment="}},
	{name: "nix", kind: wrapAfter, query: "-c --command"},
	{name: "nix-shell", kind: wrapOption, query: "run command", grammar: grammar{short: "p?I:A:E:j:", long: "run= command= packages? arg= argstr= option= keep="}},
	{name: "nocorrect", kind: wrapBuiltin},
	{name: "nodemon", kind: wrapOption, query: "x exec", grammar: grammar{short: "x:e:w:i:", long: "exec= ext= watch= ignore= delay="}},
	{name: "noglob", kind: wrapBuiltin},
	{name: "nohup", kind: wrapPlain},
	{name: "npm", kind: wrapCarrier, query: "exec x", grammar: grammar{short: "c:w:", long: "call= package= workspace= prefix= yes no workspaces"}},
	{name: "npx", kind: wrapDirect, grammar: grammar{short: "p:c:", long: "package= call= yes no"}},
	{name: "nsenter", kind: wrapShell, grammar: grammar{short: "t:S:G:r?w?W:m?u?i?n?p?C?U?T?N:", long: "target= setuid= setgid= root? wd? wdns= mount? uts? ipc? net? pid? cgroup? user? time? preserve-credentials no-fork all follow-context net-socket="}},
	{name: "numactl", kind: wrapPlain, grammar: grammar{short: "i:w:N:C:m:p:P:", long: "interleave= weighted-interleave= preferred= preferred-many= physcpubind= cpunodebind= membind= localalloc"}},
	{name: "nvm", kind: wrapCarrier, skip: 1, query: "exec"},
	{name: "nx", kind: wrapCarrier, query: "exec"},
	{name: "op", kind: wrapCarrier, query: "run"},
	{name: "opam", kind: wrapCarrier, query: "exec", grammar: grammar{long: "switch= root="}},
	{name: "openvt", kind: wrapPlain, grammar: grammar{short: "c:", long: "console="}},
	{name: "parallel", kind: wrapParallel, grammar: grammar{short: "a:j:P:n:N:L:s:I:S:d:C:E:i?l?U:", long: "arg-file= jobs= max-procs= max-args= max-replace-args= max-lines= max-chars= sshlogin= sshloginfile= delimiter= colsep= joblog= results= tempdir= tmpdir= tagstring= timeout= delay= retries= halt= halt-on-error= load= memfree= nice= workdir= wd= env= profile= block= recstart= recend= shuf keep-order dry-run bar eta pipe pipe-part link xapply will-cite verbose trim= rpl= number-of-cores basefile= return= transferfile="}},
	{name: "pdm", kind: wrapCarrier, query: "run", grammar: grammar{short: "p:", long: "project="}},
	{name: "pee", kind: wrapString},
	{name: "perf", kind: wrapCarrier, grammar: grammar{short: "e:o:F:c:r:G:p:t:u:C:", long: "event= output= freq= count= repeat= pid= tid= uid= cpu= call-graph="}, query: "stat record trace"},
	{name: "pidstat", kind: wrapAfter, query: "-e"},
	{name: "pipenv", kind: wrapCarrier, query: "run"},
	{name: "pipx", kind: wrapCarrier, query: "run", grammar: grammar{long: "spec= python= pip-args= index-url="}},
	{name: "pkexec", kind: wrapPlain, grammar: grammar{long: "user= disable-internal-agent keep-cwd"}},
	{name: "pnpm", kind: wrapCarrier, query: "exec dlx"},
	{name: "poetry", kind: wrapCarrier, query: "run"},
	{name: "prlimit", kind: wrapPlain, grammar: grammar{short: "p:o:c?d?e?f?i?l?m?n?q?r?s?t?u?v?x?y?", long: "pid= output= noheadings raw verbose core? data? nice? fsize? sigpending? memlock? rss? nofile? msgqueue? rtprio? stack? cpu? nproc? as? locks? rttime?"}, query: "p pid"},
	{name: "proot", kind: wrapPlain, grammar: grammar{short: "r:b:w:q:k:i:v:R:S:", long: "rootfs= bind= cwd= pwd= qemu= kernel-release= root-id"}},
	{name: "proxychains", kind: wrapPlain, grammar: grammar{short: "f:"}},
	{name: "proxychains4", kind: wrapPlain, grammar: grammar{short: "f:"}},
	{name: "pyenv", kind: wrapCarrier, query: "exec"},
	{name: "rbenv", kind: wrapCarrier, query: "exec"},
	{name: "rlwrap", kind: wrapPlain, grammar: grammar{short: "b:C:f:F:g:H:l:m?O:p?P:q:S:s:t:w:z:"}},
	{name: "rr", kind: wrapCarrier, query: "record"},
	{name: "run-one", kind: wrapPlain},
	{name: "run-this-one", kind: wrapPlain},
	{name: "runcon", kind: wrapPlain, skip: 1, grammar: grammar{short: "t:u:r:l:", long: "type= user= role= range="}},
	{name: "runuser", kind: wrapSu, grammar: grammar{short: "c:u:g:G:s:T:w:", long: "command= session-command= user= group= supp-group= shell= whitelist-environment= login preserve-environment fast pty"}},
	{name: "rustup", kind: wrapCarrier, skip: 1, query: "run"},
	{name: "rvm", kind: wrapCarrier, query: "exec"},
	{name: "rye", kind: wrapCarrier, query: "run"},
	{name: "s6-setuidgid", kind: wrapPlain, skip: 1},
	{name: "salt-call", kind: wrapTerminal, query: "cmd.run cmd.shell cmd.run_all cmd.run_stdout cmd.exec_code", grammar: grammar{short: "c:l:m:", long: "config-dir= log-level= local out="}},
	{name: "sccache", kind: wrapPlain},
	{name: "schroot", kind: wrapAfter, query: "--"},
	{name: "screen", kind: wrapPlain, grammar: grammar{short: "c:e:h:p:S:s:t:T:"}, query: "r R x list ls wipe"},
	{name: "script", kind: wrapScript, grammar: grammar{short: "B:c:E:I:m:o:O:T:t?", long: "log-io= command= echo= log-in= log-out= log-timing= logging-format= output-limit= timing? append return flush force quiet"}},
	{name: "setarch", kind: wrapArch},
	{name: "setlock", kind: wrapPlain, skip: 1},
	{name: "setpriv", kind: wrapPlain, grammar: grammar{long: "reuid= ruid= euid= regid= rgid= egid= groups= inh-caps= ambient-caps= bounding-set= securebits= pdeathsig= ptracer= selinux-label= apparmor-profile= landlock-access= landlock-rule= seccomp-filter= clear-groups keep-groups init-groups no-new-privs reset-env dump"}, query: "d dump"},
	{name: "setsid", kind: wrapPlain, grammar: grammar{long: "ctty fork wait"}},
	{name: "setuidgid", kind: wrapPlain, skip: 1},
	{name: "sg", kind: wrapSu, grammar: grammar{short: "c:"}},
	{name: "softlimit", kind: wrapPlain, grammar: grammar{short: "a:c:d:f:l:m:o:p:r:s:t:"}},
	{name: "ssh-agent", kind: wrapPlain, grammar: grammar{short: "a:E:O:P:t:"}, query: "k"},
	{name: "stack", kind: wrapCarrier, query: "exec", grammar: grammar{long: "resolver= stack-yaml= package="}},
	{name: "start-server-and-test", kind: wrapString},
	{name: "start-stop-daemon", kind: wrapAfter, grammar: grammar{short: "a:x:n:p:u:s:c:g:r:d:k:N:P:I:R:", long: "startas= exec= name= pidfile= user= signal= chuid= group= chroot= chdir= umask= nicelevel= procsched= iosched= retry= start stop status"}},
	{name: "startx", kind: wrapPlain},
	{name: "stdbuf", kind: wrapPlain, grammar: grammar{short: "i:o:e:", long: "input= output= error="}},
	{name: "strace", kind: wrapPlain, grammar: grammar{short: "a:b:e:E:I:o:O:p:P:s:S:u:U:X:", long: "columns= detach-on= trace= signal= status= inject= fault= decode-fds? output= overhead= attach= trace-path= string-limit= summary-sort-by= user= env= argv0= interruptible= const-print-style= kvm="}, query: "p attach"},
	{name: "su", kind: wrapSu, grammar: grammar{short: "c:g:G:s:T:w:C:", long: "command= session-command= group= supp-group= shell= whitelist-environment= login preserve-environment fast pty"}},
	{name: "su-exec", kind: wrapPlain, skip: 1},
	{name: "sudo", kind: wrapAssign, grammar: grammar{short: "a:C:c:D:g:h?p:R:r:T:t:U:u:", long: "auth-type= close-from= login-class= chdir= preserve-env? group= host= prompt= chroot= role= command-timeout= type= other-user= user= askpass background bell edit set-home login remove-timestamp reset-timestamp list non-interactive preserve-groups stdin shell version validate no-update"}, query: "l v K V e list validate remove-timestamp version edit"},
	{name: "summon", kind: wrapPlain, grammar: grammar{short: "p:f:e:D:", long: "provider= yaml= environment="}},
	{name: "systemd-inhibit", kind: wrapPlain, grammar: grammar{long: "what= who= why= mode= list"}},
	{name: "systemd-nspawn", kind: wrapPlain, grammar: grammar{short: "D:i:u:M:b", long: "directory= image= user= machine= bind= bind-ro= setenv="}},
	{name: "systemd-run", kind: wrapPlain, grammar: grammar{short: "H:M:u:p:E:d:", long: "host= machine= unit= property= description= slice= uid= gid= nice= working-directory= setenv= service-type= on-active= on-boot= on-startup= on-unit-active= on-unit-inactive= on-calendar= timer-property= path-property= socket-property= background= scope user system pty pipe wait shell same-dir quiet collect remain-after-exit no-block send-sighup no-ask-password"}},
	{name: "taskset", kind: wrapPlain, skip: 1, query: "p pid"},
	{name: "teller", kind: wrapAfter, query: "--"},
	{name: "time", kind: wrapPlain, grammar: grammar{short: "f:o:", long: "format= output= append portability verbose quiet"}},
	{name: "timeout", kind: wrapPlain, skip: 1, grammar: grammar{short: "k:s:", long: "kill-after= signal= foreground preserve-status verbose"}},
	{name: "tini", kind: wrapPlain, grammar: grammar{short: "p:e:"}},
	{name: "tmux", kind: wrapTerminal, query: "new new-session neww new-window splitw split-window popup display-popup respawn-pane run run-shell pipe-pane pipep if-shell if send send-keys", grammar: grammar{short: "c:e:F:f:n:s:t:x:y:l:L:S:"}},
	{name: "toolbox", kind: wrapCarrier, query: "run", grammar: grammar{short: "c:d:r:", long: "container= distro= release="}},
	{name: "torify", kind: wrapPlain},
	{name: "torsocks", kind: wrapPlain, grammar: grammar{short: "u:p:a:P:", long: "user= pass= address= port="}},
	{name: "tox", kind: wrapAfter, query: "--"},
	{name: "toybox", kind: wrapPlain, query: "help long version"},
	{name: "tsocks", kind: wrapPlain},
	{name: "unbuffer", kind: wrapPlain},
	{name: "unshare", kind: wrapShell, grammar: grammar{short: "R:w:S:G:l:", long: "map-user= map-group= map-users= map-groups= owner= propagation= setgroups= root= wd= setuid= setgid= monotonic= boottime= load-interp= kill-child? mount? uts? ipc? net? pid? user? cgroup? time? mount-proc? fork map-root-user map-current-user map-auto keep-caps forward-signals"}},
	{name: "urxvt", kind: wrapAfter, query: "-e"},
	{name: "uv", kind: wrapCarrier, query: "run"},
	{name: "valgrind", kind: wrapPlain},
	{name: "volta", kind: wrapCarrier, query: "run", grammar: grammar{long: "node= npm= yarn= pnpm="}},
	{name: "watch", kind: wrapString, grammar: grammar{short: "n:q:d?s:", long: "interval= equexit= differences? shotsdir= exec beep color no-color errexit chgexit no-title precise no-wrap no-rerun"}},
	{name: "watchexec", kind: wrapString, grammar: grammar{short: "w:e:i:f:d:s:", long: "watch= exts= ignore= filter= debounce= signal= shell= clear? restart"}},
	{name: "wezterm", kind: wrapAfter, query: "--"},
	{name: "wine", kind: wrapPlain},
	{name: "x86_64", kind: wrapPlain},
	{name: "xargs", kind: wrapXargs, grammar: grammar{short: "a:d:E:e?I:i?L:l?n:P:s:S:R:J:", long: "arg-file= delimiter= eof? replace? max-lines? max-args= max-procs= max-chars= process-slot-var= null interactive no-run-if-empty verbose exit show-limits open-tty"}},
	{name: "xcrun", kind: wrapPlain, grammar: grammar{long: "sdk= toolchain="}},
	{name: "xinit", kind: wrapPlain},
	{name: "xterm", kind: wrapAfter, query: "-e"},
	{name: "xvfb-run", kind: wrapPlain, grammar: grammar{short: "e:f:n:p:s:w:", long: "error-file= auth-file= server-num= xauth-protocol= server-args= wait= auto-servernum listen-tcp"}},
	{name: "yarn", kind: wrapCarrier, query: "exec dlx", grammar: grammar{short: "p:", long: "package= cwd="}},
}

// findWrapper returns the entry of a name, or nil.
func findWrapper(name string) *wrapper {
	i := sort.Search(len(wrappers), func(i int) bool { return wrappers[i].name >= name })
	if i < len(wrappers) && wrappers[i].name == name {
		return &wrappers[i]
	}
	return nil
}
