// The style sheet of a report. Internal.
#pragma once

#include <string_view>

namespace davinci::report {

inline constexpr int kNumSchemeColors = 6;  // classes s0 … s5

inline constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --bg: #fdfdfc; --fg: #1d2329; --soft: #5d6873; --line: #d9dee3;
  --box: #f3f5f6; --good: #17723b; --bad: #b3261e; --warn: #8a5a00; --accent: #2458b8;
  --c0: #5d6873; --c1: #2458b8; --c2: #b35309; --c3: #17723b; --c4: #8b2a8b; --c5: #0f7285; }
@media (prefers-color-scheme: dark) { :root { --bg: #14181c; --fg: #e4e8ec; --soft: #99a5b1;
  --line: #333c45; --box: #1d2329; --good: #5fce8a; --bad: #ff8a80; --warn: #f0b429;
  --accent: #86b1ff; --c0: #99a5b1; --c1: #86b1ff; --c2: #ffb070; --c3: #5fce8a; --c4: #e59ae5;
  --c5: #6fd3e6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 76rem; background: var(--bg);
  color: var(--fg); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
a { color: var(--accent); }
p { margin: .4rem 0; max-width: 60rem; }
.soft { color: var(--soft); }
.notice { border-left: 4px solid var(--warn); background: var(--box); padding: .5rem .8rem; }
.cards { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
.card { background: var(--box); border: 1px solid var(--line); border-radius: 6px;
  padding: .5rem .8rem; min-width: 9rem; }
.card b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td.n, th.n { text-align: right; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .off { color: var(--warn); }
.chip { display: inline-block; border: 1px solid currentColor; border-radius: 4px;
  padding: 0 .4rem; margin: 0 .2rem .2rem 0; text-decoration: none; white-space: nowrap; }
.chip.best { background: var(--good); border-color: var(--good); color: var(--bg); }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .6rem;
  overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; max-height: 36rem; }
details { margin: .3rem 0; } details details { margin-left: 1rem; }
summary { cursor: pointer; } summary:hover { color: var(--accent); }
svg.plot { width: 100%; max-width: 42rem; height: auto; display: block; margin: .4rem 0; }
svg .grid { stroke: var(--line); } svg .one { stroke: var(--soft); stroke-dasharray: 4 3; }
svg .tick { fill: var(--soft); font: 12px system-ui, sans-serif; }
svg .bar, svg .dot { fill: var(--accent); }
svg .range { stroke: var(--accent); stroke-width: 2; }
svg polyline { fill: none; stroke-width: 1.5; opacity: .65; }
svg .miss path { stroke: var(--bad); stroke-width: 1.8; }
svg .untimed path { stroke: var(--soft); stroke-width: 1.8; }
.s0 .dot { fill: var(--c0); } .s0 polyline, .s0 .range { stroke: var(--c0); }
.s1 .dot { fill: var(--c1); } .s1 polyline, .s1 .range { stroke: var(--c1); }
.s2 .dot { fill: var(--c2); } .s2 polyline, .s2 .range { stroke: var(--c2); }
.s3 .dot { fill: var(--c3); } .s3 polyline, .s3 .range { stroke: var(--c3); }
.s4 .dot { fill: var(--c4); } .s4 polyline, .s4 .range { stroke: var(--c4); }
.s5 .dot { fill: var(--c5); } .s5 polyline, .s5 .range { stroke: var(--c5); }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)); gap: 1rem; }
.curves figure { margin: 0; min-width: 0; }
.curves figcaption { min-height: 3.2em; } .curves figcaption b { display: block; }
.curves .name { color: var(--soft); margin-right: .9rem; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
svg.curve { width: 100%; height: auto; display: block; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 50%; margin-right: .3rem;
  vertical-align: -1px; }
.key.k0 { background: var(--c0); } .key.k1 { background: var(--c1); }
.key.k2 { background: var(--c2); } .key.k3 { background: var(--c3); }
.key.k4 { background: var(--c4); } .key.k5 { background: var(--c5); }
@media print { details:not([open]) > *:not(summary) { display: block; } pre { max-height: none; } }
)css";

}  // namespace davinci::report
