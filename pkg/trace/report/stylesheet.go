package report

import (
	"fmt"
	"strings"
)

// styleSheet is the whole of the report's CSS. It does not depend on what is reported, so its hash in the policy allows nothing else.
// Colours keep a contrast of 4.5:1 and more against their background in both schemes (WCAG 2.2, 1.4.3).
func styleSheet() string {
	var out strings.Builder
	out.WriteString(baseStyle)
	for _, o := range append(outcomeOrder(), "invalid") {
		fmt.Fprintf(&out, "#o-%s:not(:checked)~.list>.o-%s{display:none}\n", o, o)
	}
	for i := range maxToolFilters + 1 {
		fmt.Fprintf(&out, "#t-%d:checked~.list>.a:not(.t-%d){display:none}\n", i, i)
	}
	return out.String()
}

const baseStyle = `
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--code:#f3f5f7;--link:#0550ae;
--good:#116329;--goodbg:#dafbe1;--bad:#a40e26;--badbg:#ffebe9;--warn:#7a4a00;--warnbg:#fff3cd;--calm:#424a53;--calmbg:#eaeef2}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9da7b3;--line:#30363d;--code:#161b22;--link:#79c0ff;
--good:#7ee787;--goodbg:#12261e;--bad:#ffa198;--badbg:#3c1618;--warn:#f2cc60;--warnbg:#332a10;--calm:#c9d1d9;--calmbg:#21262d}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:1.6rem 0 .5rem}h3{font-size:.95rem;margin:1rem 0 .3rem}
p{margin:.2rem 0}header{border-bottom:1px solid var(--line);padding-bottom:.7rem}
footer{margin-top:2rem;border-top:1px solid var(--line);color:var(--dim);padding-top:.5rem}
.dim{color:var(--dim);font-weight:normal}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font:13px/1.45 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.6rem;margin:.4rem 0;white-space:pre-wrap;max-height:28rem;overflow:auto}
code.cmd{display:block;background:var(--code);border-radius:4px;padding:0 .3rem;margin:.1rem 0}
.cards{list-style:none;display:flex;flex-wrap:wrap;gap:.6rem;padding:0;margin:0}
.cards li{border:1px solid currentColor;border-radius:8px;padding:.35rem .8rem}.cards strong{font-size:1.3rem}
.b{display:inline-block;min-width:5.6rem;text-align:center;border-radius:1rem;padding:0 .6rem;font-size:.85rem;font-weight:600}
.passed,.allowed{color:var(--good);background:var(--goodbg)}
.failed,.denied{color:var(--bad);background:var(--badbg)}
.found,.asked,.undecided{color:var(--warn);background:var(--warnbg)}
.reported{color:var(--calm);background:var(--calmbg)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;border-bottom:1px solid var(--line);padding:.25rem .6rem .25rem 0}
th[scope=row]{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
.legend{color:var(--dim);font-size:.85rem;margin-top:.5rem}
input{margin:0 .3rem 0 0}label{display:inline-block;margin-right:1rem;min-height:1.75rem}
.list{margin-top:.8rem}
.time{width:100%;background:var(--code);border:1px solid var(--line);border-radius:6px}
rect.passed,rect.allowed{fill:var(--good)}rect.failed,rect.denied{fill:var(--bad)}rect.found,rect.asked,rect.undecided{fill:var(--warn)}rect.reported{fill:var(--calm)}
.a{border:1px solid var(--line);border-radius:6px;margin:.25rem 0;padding:0 .7rem;content-visibility:auto;contain-intrinsic-size:auto 2.3rem}
.a[open]{padding-bottom:.7rem}.a:target{outline:3px solid var(--link)}
summary{cursor:pointer;padding:.3rem 0}summary code{margin:0 .4rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
@media print{input,label,.legend{display:none}.a{break-inside:avoid}}
`
