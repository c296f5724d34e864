package shell

import (
	"sort"
	"strings"
)

// effect says what a utility does with its operands.
type effect uint8

const (
	effNone effect = iota
	effRead
	effDelete
	effCreate
	effWrite
	effMode  // the first operand is a mode, an owner, …
	effTouch // create
	effMove
	effCopy
	effInstall
	effLink
	effDD
	effTee
	effTruncate
	effShred
	effPatch
	effSed
	effPerl
	effAwk
	effTar
	effUnzip
	effZip
	effRsync
	effCurl
	effWget
	effInPlace // rewrites its operands if an option says so: gofmt -w
	effPack    // gzip
	effOutput  // writes the file that -o names
	effSort
	effGrep
	effSplit
	effScp
	effMknod
	effArchive
	effIconv
	effSource // first operand read
	effEditor
	effCrontab
	effTemporary
	effGo
	effSSH
)

// utility is a program whose operands are files. The grammar of its options follows its manual
// page.
type utility struct {
	name   string
	effect effect
	grammar
	// with lists the options that turn the effect on (effInPlace), or those that name an output
	// file (effOutput).
	with string
}

// utilities is sorted by name.
var utilities = [...]utility{
	{name: "apt", effect: effNone},
	{name: "apt-get", effect: effNone},
	{name: "ar", effect: effArchive},
	{name: "as", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "autopep8", effect: effInPlace, grammar: grammar{short: "p:j:", long: "max-line-length= in-place recursive diff ignore= select="}, with: "i in-place"},
	{name: "awk", effect: effAwk, grammar: grammar{short: "f:F:v:i:l:e:E:", long: "file= field-separator= assign= include= load= source= exec="}},
	{name: "base32", effect: effRead, grammar: grammar{short: "w:", long: "wrap="}},
	{name: "base64", effect: effRead, grammar: grammar{short: "w:i:o:", long: "wrap="}},
	{name: "basename", effect: effNone},
	{name: "bat", effect: effRead, grammar: grammar{short: "l:H:m:r:", long: "language= highlight-line= map-syntax= line-range= style= theme= pager= paging= color= tabs= wrap= file-name= diff-context="}},
	{name: "black", effect: effInPlace, grammar: grammar{short: "l:t:c:", long: "line-length= target-version= code= config= include= exclude= check diff"}, with: "!check diff version help c code"},
	{name: "bunzip2", effect: effPack},
	{name: "bzip2", effect: effPack},
	{name: "c++", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "cat", effect: effRead},
	{name: "cc", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "chattr", effect: effMode, grammar: grammar{short: "v:p:"}},
	{name: "chgrp", effect: effMode, grammar: grammar{long: "reference= from= recursive"}},
	{name: "chmod", effect: effMode, grammar: grammar{long: "reference= recursive"}},
	{name: "chown", effect: effMode, grammar: grammar{long: "reference= from= recursive"}},
	{name: "cksum", effect: effRead},
	{name: "clang", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "clang++", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "clang-format", effect: effInPlace, grammar: grammar{long: "style= assume-filename= fallback-style= lines= length= offset="}, with: "i"},
	{name: "cmp", effect: effRead, grammar: grammar{short: "i:n:", long: "ignore-initial= bytes="}},
	{name: "column", effect: effRead, grammar: grammar{short: "c:s:o:N:R:", long: "separator= output-separator="}},
	{name: "comm", effect: effRead},
	{name: "cp", effect: effCopy, grammar: grammar{short: "t:S:", long: "target-directory= suffix= no-target-directory recursive archive backup? preserve? reflink? sparse= context? link symbolic-link parents"}},
	{name: "cpio", effect: effArchive},
	{name: "crontab", effect: effCrontab, grammar: grammar{short: "u:"}},
	{name: "csplit", effect: effSplit, grammar: grammar{short: "b:f:n:", long: "suffix-format= prefix= digits="}},
	{name: "curl", effect: effCurl, grammar: grammar{short: "A:b:c:C:d:D:e:E:F:h:H:K:m:o:P:Q:r:t:T:u:U:w:x:X:y:Y:z:", long: "output= output-dir= data= data-binary= data-raw= data-ascii= data-urlencode= json= form= form-string= header= user= user-agent= url= request= upload-file= cookie= cookie-jar= dump-header= config= cacert= capath= cert= key= proxy= proxy-user= referer= range= max-time= connect-timeout= retry= retry-delay= retry-max-time= limit-rate= resolve= connect-to= interface= write-out= trace= trace-ascii= stderr= netrc-file= hsts= alt-svc= etag-save= etag-compare= libcurl= create-dirs remote-name remote-name-all remote-header-name location silent fail show-error insecure compressed include head get"}},
	{name: "cut", effect: effRead, grammar: grammar{short: "b:c:d:f:", long: "bytes= characters= delimiter= fields= output-delimiter="}},
	{name: "date", effect: effNone},
	{name: "dd", effect: effDD},
	{name: "del", effect: effDelete, grammar: grammar{long: "force dry-run"}},
	{name: "del-cli", effect: effDelete, grammar: grammar{long: "force dry-run"}},
	{name: "diff", effect: effRead, grammar: grammar{short: "C:U:I:L:W:x:X:S:D:F:", long: "context? unified? ignore-matching-lines= label= width= exclude= exclude-from= starting-file= ifdef= show-function-line= from-file= to-file="}},
	{name: "dirname", effect: effNone},
	{name: "docker", effect: effNone},
	{name: "echo", effect: effNone},
	{name: "ed", effect: effEditor},
	{name: "egrep", effect: effGrep, grammar: grammar{short: "e:f:m:A:B:C:d:D:", long: "regexp= file= max-count= after-context= before-context= context= include= exclude= exclude-dir= exclude-from= label= binary-files= devices= directories= color?"}},
	{name: "ex", effect: effEditor},
	{name: "expand", effect: effRead, grammar: grammar{short: "t:"}},
	{name: "fallocate", effect: effCreate, grammar: grammar{short: "l:o:", long: "length= offset="}},
	{name: "fgrep", effect: effGrep, grammar: grammar{short: "e:f:m:A:B:C:", long: "regexp= file= max-count= include= exclude= exclude-dir="}},
	{name: "file", effect: effRead, grammar: grammar{short: "e:F:f:m:P:", long: "exclude= separator= files-from= magic-file= parameter="}},
	{name: "fmt", effect: effRead, grammar: grammar{short: "w:g:p:"}},
	{name: "fold", effect: effRead, grammar: grammar{short: "w:"}},
	{name: "g++", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "gawk", effect: effAwk, grammar: grammar{short: "f:F:v:i:l:e:E:", long: "file= field-separator= assign= include= load= source= exec="}},
	{name: "gcc", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "git", effect: effNone},
	{name: "go", effect: effGo, grammar: grammar{short: "o:"}, with: "o coverprofile cpuprofile memprofile blockprofile mutexprofile trace"},
	{name: "gofmt", effect: effInPlace, grammar: grammar{short: "r:", long: "cpuprofile="}, with: "w"},
	{name: "gofumpt", effect: effInPlace, grammar: grammar{long: "lang= modpath="}, with: "w"},
	{name: "goimports", effect: effInPlace, grammar: grammar{long: "local= srcdir="}, with: "w"},
	{name: "gpg", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "grep", effect: effGrep, grammar: grammar{short: "e:f:m:A:B:C:d:D:", long: "regexp= file= max-count= after-context= before-context= context= include= exclude= exclude-dir= exclude-from= label= binary-files= devices= directories= color?"}},
	{name: "gunzip", effect: effPack, grammar: grammar{short: "S:", long: "suffix="}},
	{name: "gzip", effect: effPack, grammar: grammar{short: "S:b:", long: "suffix= stdout decompress keep recursive test list"}},
	{name: "head", effect: effRead, grammar: grammar{short: "n:c:", long: "lines= bytes="}},
	{name: "hexdump", effect: effRead, grammar: grammar{short: "e:f:n:s:"}},
	{name: "iconv", effect: effIconv, grammar: grammar{short: "f:t:o:", long: "from-code= to-code= output="}},
	{name: "install", effect: effInstall, grammar: grammar{short: "t:S:m:o:g:", long: "target-directory= suffix= mode= owner= group= strip-program= no-target-directory directory backup? context?"}},
	{name: "isort", effect: effInPlace, grammar: grammar{short: "l:p:s:", long: "profile= line-length= settings-path= check-only check diff stdout"}, with: "!check-only check c diff d stdout version help"},
	{name: "join", effect: effRead, grammar: grammar{short: "a:e:j:o:t:v:1:2:"}},
	{name: "jq", effect: effGrep, grammar: grammar{short: "f:L:", long: "from-file= indent= tab arg= argjson="}},
	{name: "kill", effect: effNone},
	{name: "ld", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "less", effect: effRead, grammar: grammar{short: "b:h:j:k:o:O:p:P:t:T:x:y:z:"}},
	{name: "link", effect: effLink},
	{name: "ln", effect: effLink, grammar: grammar{short: "t:S:", long: "target-directory= suffix= no-target-directory symbolic force backup?"}},
	{name: "ls", effect: effNone},
	{name: "lz4", effect: effPack},
	{name: "make", effect: effNone},
	{name: "mawk", effect: effAwk, grammar: grammar{short: "f:F:v:"}},
	{name: "md5sum", effect: effRead},
	{name: "mkdir", effect: effCreate, grammar: grammar{short: "m:", long: "mode= parents context?"}},
	{name: "mke2fs", effect: effWrite},
	{name: "mkfifo", effect: effCreate, grammar: grammar{short: "m:", long: "mode= context?"}},
	{name: "mkfs", effect: effWrite, grammar: grammar{short: "t:", long: "type="}},
	{name: "mknod", effect: effMknod, grammar: grammar{short: "m:", long: "mode= context?"}},
	{name: "mkswap", effect: effWrite, grammar: grammar{short: "L:U:p:v:", long: "label= uuid= pagesize="}},
	{name: "mktemp", effect: effTemporary, grammar: grammar{short: "p:", long: "tmpdir? suffix= directory dry-run quiet"}},
	{name: "more", effect: effRead, grammar: grammar{short: "n:"}},
	{name: "mv", effect: effMove, grammar: grammar{short: "t:S:", long: "target-directory= suffix= no-target-directory backup? context"}},
	{name: "nawk", effect: effAwk, grammar: grammar{short: "f:F:v:"}},
	{name: "nl", effect: effRead, grammar: grammar{short: "b:d:f:h:i:l:n:s:v:w:"}},
	{name: "npm", effect: effNone},
	{name: "od", effect: effRead, grammar: grammar{short: "A:j:N:S:t:w:", long: "address-radix= skip-bytes= read-bytes= strings= format= width?"}},
	{name: "openssl", effect: effOutput, with: "out"},
	{name: "pandoc", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "paste", effect: effRead, grammar: grammar{short: "d:"}},
	{name: "patch", effect: effPatch, grammar: grammar{short: "B:d:D:F:g:i:o:p:r:V:x:Y:z:", long: "prefix= directory= ifdef= fuzz= get= input= output= strip= reject-file= version-control= debug= basename-prefix= suffix= dry-run reject-format= read-only="}},
	{name: "perl", effect: effPerl, grammar: grammar{short: "e:E:I:i?M:m:x?F:D:"}},
	{name: "pkill", effect: effNone},
	{name: "prettier", effect: effInPlace, grammar: grammar{short: "w", long: "config= ignore-path= parser= plugin= log-level= loglevel= tab-width= print-width= end-of-line= write check list-different"}, with: "w write"},
	{name: "printf", effect: effNone},
	{name: "protoc", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "pwd", effect: effNone},
	{name: "readlink", effect: effNone},
	{name: "realpath", effect: effNone},
	{name: "rev", effect: effRead},
	{name: "rg", effect: effGrep, grammar: grammar{short: "e:f:m:A:B:C:g:t:T:j:M:r:d:E:", long: "regexp= file= max-count= after-context= before-context= context= glob= iglob= type= type-not= threads= replace= max-depth= encoding= sort= sortr= pre= color= colors="}},
	{name: "rimraf", effect: effDelete, grammar: grammar{long: "impl= tmp= max-retries= retry-delay= backoff= preserve-root no-preserve-root glob no-glob verbose interactive"}},
	{name: "rm", effect: effDelete, grammar: grammar{long: "interactive? preserve-root? no-preserve-root recursive force one-file-system dir verbose"}},
	{name: "rmdir", effect: effDelete, grammar: grammar{long: "ignore-fail-on-non-empty parents verbose"}},
	{name: "rsync", effect: effRsync, grammar: grammar{short: "e:f:T:B:M:@:", long: "rsh= rsync-path= exclude= exclude-from= include= include-from= filter= files-from= backup-dir= suffix= chmod= chown= usermap= groupmap= temp-dir= partial-dir= compare-dest= copy-dest= link-dest= log-file= password-file= port= bwlimit= max-size= min-size= timeout= out-format= delete delete-before delete-during delete-after delete-excluded remove-source-files dry-run list-only"}},
	{name: "ruby", effect: effPerl, grammar: grammar{short: "e:I:i?r:C:E:x?F:K:T?W?"}},
	{name: "rustc", effect: effOutput, grammar: grammar{short: "o:"}, with: "o output"},
	{name: "rustfmt", effect: effInPlace, grammar: grammar{long: "config= config-path= edition= emit= color= check"}, with: "!check help version"},
	{name: "scp", effect: effScp, grammar: grammar{short: "c:D:F:i:J:l:o:P:S:X:"}},
	{name: "sed", effect: effSed, grammar: grammar{short: "e:f:i?l:", long: "expression= file= in-place? line-length= quiet silent regexp-extended separate null-data debug sandbox posix follow-symlinks unbuffered"}},
	{name: "setcap", effect: effMode},
	{name: "setfacl", effect: effMode, grammar: grammar{short: "m:M:x:X:", long: "modify= modify-file= remove= remove-file= set= set-file= restore="}},
	{name: "sftp", effect: effSSH, grammar: grammar{short: "B:b:c:D:F:i:J:l:o:P:R:S:s:X:"}},
	{name: "sha1sum", effect: effRead},
	{name: "sha224sum", effect: effRead},
	{name: "sha256sum", effect: effRead},
	{name: "sha384sum", effect: effRead},
	{name: "sha512sum", effect: effRead},
	{name: "shfmt", effect: effInPlace, grammar: grammar{short: "i:", long: "indent= language-dialect= filename= write list diff"}, with: "w write"},
	{name: "shred", effect: effShred, grammar: grammar{short: "n:s:", long: "iterations= size= random-source= remove? zero"}},
	{name: "shuf", effect: effSort, grammar: grammar{short: "i:n:o:", long: "input-range= head-count= output= random-source="}},
	{name: "sleep", effect: effNone},
	{name: "sort", effect: effSort, grammar: grammar{short: "k:o:S:t:T:", long: "key= output= buffer-size= field-separator= temporary-directory= compress-program= batch-size= parallel= random-source= files0-from= sort="}},
	{name: "source", effect: effNone},
	{name: "split", effect: effSplit, grammar: grammar{short: "a:b:C:l:n:t:", long: "suffix-length= additional-suffix= bytes= line-bytes= lines= number= separator= filter="}},
	{name: "sponge", effect: effWrite},
	{name: "ssh", effect: effSSH, grammar: grammar{short: "B:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:"}},
	{name: "stat", effect: effNone},
	{name: "strings", effect: effRead, grammar: grammar{short: "n:t:e:"}},
	{name: "strip", effect: effWrite, grammar: grammar{short: "o:F:I:O:R:K:N:", long: "target= input-target= output-target= remove-section= keep-symbol= strip-symbol="}},
	{name: "sudoedit", effect: effEditor, grammar: grammar{short: "a:C:c:D:g:h:p:R:r:T:t:U:u:"}},
	{name: "swapon", effect: effNone},
	{name: "tac", effect: effRead, grammar: grammar{short: "s:"}},
	{name: "tail", effect: effRead, grammar: grammar{short: "n:c:s:", long: "lines= bytes= sleep-interval= pid= max-unchanged-stats="}},
	{name: "tar", effect: effTar, grammar: grammar{short: "b:C:f:F:g:H:I:K:L:N:T:V:X:", long: "directory= file= exclude= exclude-from= files-from= transform= xform= strip-components= use-compress-program= to-command= checkpoint-action= checkpoint? info-script= new-volume-script= listed-incremental= owner= group= mode= mtime= newer= after-date= newer-mtime= format= label= blocking-factor= record-size= rsh-command= rmt-command= index-file= one-top-level? suffix= starting-file= add-file= create extract get list append update diff compare delete concatenate catenate to-stdout remove-files"}},
	{name: "tee", effect: effTee, grammar: grammar{long: "append output-error? ignore-interrupts"}},
	{name: "touch", effect: effTouch, grammar: grammar{short: "d:r:t:", long: "date= reference= time= no-create"}},
	{name: "trash", effect: effDelete},
	{name: "trash-put", effect: effDelete, grammar: grammar{long: "trash-dir="}},
	{name: "truncate", effect: effTruncate, grammar: grammar{short: "r:s:", long: "reference= size= no-create io-blocks"}},
	{name: "umount", effect: effNone},
	{name: "unexpand", effect: effRead, grammar: grammar{short: "t:"}},
	{name: "uniq", effect: effIconv, grammar: grammar{short: "f:s:w:", long: "skip-fields= skip-chars= check-chars= all-repeated? group?"}},
	{name: "unlink", effect: effDelete},
	{name: "unzip", effect: effUnzip, grammar: grammar{short: "d:x:P:O:I:"}},
	{name: "vi", effect: effEditor},
	{name: "vim", effect: effEditor},
	{name: "wc", effect: effRead, grammar: grammar{long: "files0-from= total="}},
	{name: "wget", effect: effWget, grammar: grammar{short: "a:A:B:D:e:i:I:l:o:O:P:Q:R:t:T:U:w:X:", long: "output-document= directory-prefix= output-file= append-output= input-file= header= user= password= user-agent= post-data= post-file= body-data= body-file= method= tries= timeout= wait= quota= level= accept= reject= domains= exclude-domains= include-directories= exclude-directories= load-cookies= save-cookies= ca-certificate= ca-directory= certificate= private-key= base= execute= config= referer= limit-rate= cut-dirs= default-page= warc-file= spider delete-after quiet no-check-certificate"}},
	{name: "wipefs", effect: effWrite, grammar: grammar{short: "o:t:O:", long: "offset= types= output="}},
	{name: "xxd", effect: effIconv, grammar: grammar{short: "c:g:l:n:o:s:R:"}},
	{name: "xz", effect: effPack, grammar: grammar{short: "T:S:M:", long: "threads= suffix= memlimit= format= check="}},
	{name: "zcat", effect: effRead},
	{name: "zip", effect: effZip, grammar: grammar{short: "b:n:P:t:i:x:O:", long: "unzip-command= temp-path= suffixes="}},
	{name: "zstd", effect: effPack, grammar: grammar{short: "o:D:T:M:", long: "threads= output-dir-flat= rm keep stdout"}},
}

// findUtility returns the entry of a name. GNU tools on other systems have the prefix g.
func findUtility(name string) *utility {
	i := sort.Search(len(utilities), func(i int) bool { return utilities[i].name >= name })
	if i < len(utilities) && utilities[i].name == name {
		return &utilities[i]
	}
	if strings.HasPrefix(name, "mkfs.") {
		return findUtility("mkfs")
	}
	if len(name) > 2 && name[0] == 'g' {
		return findUtility(name[1:])
	}
	return nil
}

// knownCommand reports whether a name is one that scripts expect to mean a certain program or builtin.
func knownCommand(name string) bool {
	if findUtility(name) != nil || findWrapper(name) != nil {
		return true
	}
	if _, ok := findInterpreter(name); ok {
		return true
	}
	return isBuiltin(name)
}

func isBuiltin(name string) bool {
	switch name {
	case ":", ".", "[", "alias", "bg", "bind", "break", "caller", "cd", "compgen", "complete", "compopt", "continue", "declare",
		"dirs", "disown", "enable", "eval", "exit", "export", "false", "fc", "fg", "getopts", "hash", "help", "history", "jobs",
		"let", "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "set", "shift", "shopt",
		"suspend", "test", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait":
		return true
	}
	return false
}
