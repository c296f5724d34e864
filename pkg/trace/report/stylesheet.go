package report

import (
	"fmt"
	"strings"
)

// styleSheet returns all CSS of the report. It does not depend on the reported data, so its hash in
// the policy allows nothing else. Colours have a contrast of at least 4.5:1 against their
// background in both schemes (WCAG 2.2, 1.4.3).
func styleSheet() string {
	var out strings.Builder
	out.WriteString(baseStyle)
	for _, o := range append(outcomeOrder(), "invalid") {
		fmt.Fprintf(&out, "#o-%s:checked~.list .f:not(.o-%s){display:none}\n", o, o)
	}
	out.WriteString("#o-wrong:checked~.list .f:not(.w){display:none}\n")
	for i := range maxToolFilters + 1 {
		fmt.Fprintf(&out, "#t-%d:checked~.list .f:not(.t-%d){display:none}\n", i, i)
	}
	return out.String()
}

// baseStyle keeps the layout cost independent of the number of actions: an action out of view is
// not laid out (content-visibility).
const baseStyle = `
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--code:#f3f5f7;--link:#0550ae;--field:#6e7781;
--good:#116329;--goodbg:#dafbe1;--bad:#a40e26;--badbg:#ffebe9;--fail:#9a3412;--failbg:#ffe8d6;--warn:#6b5900;--warnbg:#fff8c5;--ask:#6639ba;--askbg:#fbefff;--calm:#424a53;--calmbg:#eaeef2}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9da7b3;--line:#30363d;--code:#161b22;--link:#79c0ff;--field:#8b949e;
--good:#7ee787;--goodbg:#12261e;--bad:#ffa198;--badbg:#3c1618;--fail:#ffb077;--failbg:#3b2312;--warn:#e3d26f;--warnbg:#2d2a10;--ask:#d2a8ff;--askbg:#2e1f47;--calm:#c9d1d9;--calmbg:#21262d}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:1.2rem 1.5rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif}
h1{font-size:2rem;line-height:1.2;margin:.1rem 0 .4rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}h3{font-size:.9rem;margin:1rem 0 .3rem}
.h-denied{color:var(--bad)}.h-passed{color:var(--good)}
p{margin:.2rem 0}
footer{margin-top:2.5rem;border-top:1px solid var(--line);color:var(--dim);padding-top:.5rem}
.dim{color:var(--dim);font-weight:normal}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font:13px/1.45 ui-monospace,"DejaVu Sans Mono","Noto Sans Mono",monospace;overflow-wrap:anywhere}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.6rem;margin:.4rem 0;white-space:pre-wrap;max-height:28rem;overflow:auto}
code.cmd{display:block;background:var(--code);border-radius:4px;padding:.1rem .5rem;margin:.25rem 0}
.share{display:block;width:100%;border-radius:6px;margin:.9rem 0 0}
.cards{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(min(24rem,100%),1fr));gap:.8rem;padding:0;margin:0}
.card{border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}.card>p+p{margin-top:.4rem}
.chips{list-style:none;display:flex;flex-wrap:wrap;gap:.5rem;padding:0;margin:0}.chips li{border-radius:6px;padding:.15rem .6rem}
.b{display:inline-block;min-width:5.6rem;text-align:center;border-radius:1rem;padding:0 .6rem;font-size:.85rem;font-weight:600}
.passed,.allowed{color:var(--good);background:var(--goodbg)}
.failed,.no-result{color:var(--fail);background:var(--failbg)}.denied{color:var(--bad);background:var(--badbg)}
.found{color:var(--warn);background:var(--warnbg)}.asked,.undecided{color:var(--ask);background:var(--askbg)}
.reported{color:var(--calm);background:var(--calmbg)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;border-bottom:1px solid var(--line);padding:.3rem .8rem .3rem 0}
thead th{color:var(--dim);font-size:.85rem}th[scope=row]{font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
.time{display:block;width:100%;background:var(--code);border:1px solid var(--line);border-radius:6px}
rect{stroke:var(--bg);stroke-width:1}.time a:hover rect{stroke:var(--fg)}
rect.passed,rect.allowed{fill:var(--good)}rect.failed,rect.no-result{fill:var(--fail)}rect.denied{fill:var(--bad)}rect.found{fill:var(--warn)}rect.asked,rect.undecided{fill:var(--ask)}rect.reported{fill:var(--calm)}
.time text{fill:var(--dim);font-size:11px}.cut{stroke:var(--field);stroke-dasharray:3 3}
.legend{display:inline-block;color:var(--dim);min-width:3rem;margin:.3rem .2rem .3rem 0}
input{position:absolute;opacity:0;width:1px;height:1px}
label{display:inline-block;border:1px solid var(--field);border-radius:1rem;padding:.1rem .8rem;margin:.15rem .25rem .15rem 0;min-height:1.75rem;cursor:pointer}
label:hover{background:var(--code)}input:checked+label{background:var(--fg);color:var(--bg);border-color:var(--fg)}
input:focus-visible+label{outline:3px solid var(--link);outline-offset:2px}
.count{opacity:.8;font-variant-numeric:tabular-nums}
.list{margin-top:.8rem;border-bottom:1px solid var(--line)}
.a{border-top:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 2.4rem}
.a>summary{display:grid;grid-template-columns:.9rem auto minmax(0,1fr) auto auto;gap:.7rem;align-items:baseline;cursor:pointer;padding:.4rem .3rem;list-style:none}
.a>summary::-webkit-details-marker{display:none}.a>summary::before{content:"▸";color:var(--dim)}.a[open]>summary::before{content:"▾"}
summary:hover{background:var(--code)}.what{display:flex;gap:.8rem;min-width:0}.what>*{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}.what code:not(:last-child){flex:0 0 45%}
.end{flex:1 1 0;color:var(--fail);font-size:.85rem;min-width:0}
.g>h3{margin:1.2rem 0 .4rem;overflow-wrap:anywhere}.again{border-left:3px solid var(--line);margin-left:1.9rem}.again>summary{cursor:pointer;color:var(--dim);padding:.2rem .5rem}
.key{margin:.7rem 0 0;gap:.25rem .8rem}th[scope=rowgroup]{color:var(--dim);padding-top:.8rem}
.a[open]>summary code{font-weight:600}.took,.a>summary time{color:var(--dim);font-variant-numeric:tabular-nums;text-align:right}.took{min-width:4.5rem}
.in{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:0 1.8rem;padding:.2rem .3rem 1rem 1.9rem;scroll-margin-top:4rem}
.in ul{margin:.2rem 0;padding:0;list-style:none}.in li{margin:.35rem 0}
.in:target{outline:3px solid var(--link);border-radius:6px}
.side{font-size:.9rem;border-left:1px solid var(--line);padding-left:1.2rem}.side h3:first-child{margin-top:.3rem}
.more summary,.side summary{cursor:pointer;font-weight:600;margin:1rem 0 .3rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1rem 1rem;margin:0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:50rem){body{padding:.8rem}.in{grid-template-columns:minmax(0,1fr);padding-left:.5rem}.side{border:0;padding:0}
.a>summary{grid-template-columns:.9rem auto minmax(0,1fr) auto}.a>summary time{display:none}h1{font-size:1.5rem}}
@media print{body{max-width:none;padding:0;font-size:11px}input,label,.legend,.skip{display:none}pre{max-height:none}.a{content-visibility:visible}.card,tr,summary{break-inside:avoid}
h2{break-after:avoid}.again{display:block}.w::details-content,.w .side details::details-content{content-visibility:visible;block-size:auto}}
`
