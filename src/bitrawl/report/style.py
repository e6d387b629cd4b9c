"""The style of the reports, light and dark, wide and narrow."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #23262b; --quiet: #6b7078; --rule: #e3e1da; --accent: #1f5fbf;
  --warn: #fff4dc; --warn-edge: #d99a1c;
  --c0: #2a6fdb; --c1: #e0632f; --c2: #17946d; --c3: #8a55cf; --c4: #c2940a; --c5: #d23f79; --c6: #0d8f9e; --c7: #7d6b58;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --card: #1e2126; --ink: #e6e4df; --quiet: #9a9fa8; --rule: #33373e; --accent: #86b2ff;
    --warn: #33290f; --warn-edge: #c8901f;
    --c0: #6ba3ff; --c1: #ff9466; --c2: #4cc79c; --c3: #b995f2; --c4: #e2bd45; --c5: #f27fac; --c6: #4cc4d2; --c7: #b8a48f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 .3rem; letter-spacing: -.005em; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { max-width: 46rem; margin: .4rem 0 1rem; }
.lead { font-size: 1.1rem; color: var(--quiet); }
.quiet, small { color: var(--quiet); }
small { display: block; font-weight: 400; font-size: .82rem; line-height: 1.35; }
a { color: var(--accent); text-decoration: none; overflow-wrap: anywhere; }
a:hover { text-decoration: underline; }
code { font: .88em ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
nav { margin: 1.2rem 0 0; font-size: .92rem; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.tiles { display: grid; gap: 14px; margin: 1.8rem 0; grid-template-columns: repeat(4, 1fr); }
.tiles.of-5, .tiles.of-6 { grid-template-columns: repeat(3, 1fr); } .tiles.of-3 { grid-template-columns: repeat(3, 1fr); }
.tiles.of-5 .tile:last-child, .tiles.of-7 .tile:last-child { grid-column: span 2; }
.tile, figure, .card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
.tile { padding: 14px 18px; }
.tile b { display: block; font-size: 1.75rem; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tile span { color: var(--quiet); font-size: .9rem; }
.why { background: var(--warn); border: 1px solid var(--warn-edge); border-left-width: 6px; border-radius: 10px;
  padding: 16px 22px; margin: 1.8rem 0; }
.why h2 { margin: 0 0 .3rem; }
.why li { margin: .35rem 0; max-width: 52rem; }
.why em { font-style: normal; font-weight: 600; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 18px;
  align-items: start; }
.two > * { min-width: 0; }
.stack > * + * { margin-top: 18px; }
figure { margin: 0; max-width: 660px; padding: 14px 16px 12px; }
figcaption { font-weight: 600; margin-bottom: 6px; }
figure > svg { width: 100%; height: auto; display: block; overflow: visible; }
svg text { font-size: 12px; fill: var(--quiet); font-variant-numeric: tabular-nums; }
svg .axis { font-style: italic; }
.grid { stroke: var(--rule); stroke-width: 1; }
.mark { stroke: var(--ink); stroke-width: 1.4; stroke-dasharray: 5 3; }
.line { fill: none; stroke: var(--c); stroke-width: 2.2; stroke-linejoin: round; }
.stop { fill: var(--card); stroke: var(--c, var(--quiet)); stroke-width: 2.2; }
.dot { fill: transparent; }
.dot:hover { fill: var(--c); }
rect { fill: var(--c); }
rect.pale { opacity: .4; }
.column:hover { opacity: .7; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
.legend { list-style: none; margin: 6px 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 16px;
  font-size: .85rem; }
.legend svg { display: inline-block; width: 30px; height: 10px; margin-inline-end: 2px; overflow: visible; }
.card { padding: 10px 18px 14px; overflow-x: auto; }
.card h3 { margin: .3rem 0 .5rem; }
h3 + p { margin-top: 0; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: start; vertical-align: top; padding: 6px 12px 6px 0; border-top: 1px solid var(--rule); }
tr:first-child > * { border-top: 0; }
thead th { color: var(--quiet); font-weight: 500; font-size: .85rem; }
thead + tbody tr:first-child > * { border-top: 1px solid var(--rule); }
th[scope=row] { font-weight: 500; }
.n { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; padding-inline-end: 22px; }
.bars .n { padding-inline-end: 8px; }
.space { margin-top: 18px; }
.bars th { width: 42%; } .bars td.bar { width: 38%; padding-top: 10px; }
.bars svg { display: block; }
.facts th { width: 9.5rem; color: var(--quiet); font-weight: 500; } .facts td { overflow-wrap: anywhere; }
.sides { table-layout: fixed; } .sides td { width: 50%; padding-inline-end: 18px; overflow-wrap: anywhere; }
.sides tr.about td { border-top: 0; padding-top: 0; font-size: .82rem; color: var(--quiet); }
.tag { display: inline-block; border: 1px solid var(--rule); border-radius: 99px; padding: 0 8px; margin-inline-end: 5px;
  font-size: .8rem; color: var(--quiet); white-space: nowrap; }
.tag.bad { border-color: var(--warn-edge); }
footer { margin-top: 3.5rem; border-top: 1px solid var(--rule); padding-top: 1rem; color: var(--quiet);
  font-size: .88rem; }
.files th { font-weight: 400; }
@media (max-width: 640px) {
  main { padding: 24px 14px 48px; }
  h1 { font-size: 1.55rem; overflow-wrap: anywhere; }
  .tiles, .tiles.of-3, .tiles.of-5, .tiles.of-6 { grid-template-columns: 1fr 1fr; gap: 10px; }
  .tile:last-child:nth-child(odd) { grid-column: span 2; }
  .tile b { font-size: 1.45rem; }
  .card table:not(.bars):not(.facts) th[scope=row] { min-width: 8rem; }
  .card { padding: 8px 12px 10px; }
  .card table { min-width: 36rem; }
  .card table.facts, .card table.bars, .card table.files, .card table.sides { min-width: 0; }
  .sides td { display: block; width: auto; padding-inline-end: 0; } .sides td + td { border-top: 0; padding-top: 0; }
  .tag { white-space: normal; }
  .facts th { width: 6.5rem; }
  .bars th { width: 46%; } .bars td.bar { width: 24%; }
  figure { padding: 12px 10px 10px; }
  figure > svg text { font-size: 16px; }
}
@media print { body { background: #fff; } figure, .card, .tile { break-inside: avoid; } nav { display: none; } }
"""
