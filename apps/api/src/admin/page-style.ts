/** Style sheet of the admin pages, inlined in each page; the content security policy contains its digest. */
export const pageStyle = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --ink: #1b2430; --soft: #566273; --line: #d9dee6;
  --accent: #2257c4; --on-accent: #fff; --bad: #b3261e; --bad-ground: #fdecea; --good: #1b6e3c; --wait: #8a5300; }
@media (prefers-color-scheme: dark) { :root { --ground: #11161d; --card: #1a212b; --ink: #e6eaf0; --soft: #9fabbb;
  --line: #2e3846; --accent: #8ab0ff; --on-accent: #0d1726; --bad: #ff9a91; --bad-ground: #3a1d1b; --good: #7fd6a0;
  --wait: #f0bf6b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; padding: .75rem 1.5rem;
  background: var(--card); border-bottom: 1px solid var(--line); }
header strong { margin-right: auto; }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem; }
main.narrow { max-width: 28rem; padding-top: 10vh; }
a { color: var(--accent); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
section, .card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1.25rem;
  margin-top: 1rem; }
p { margin: .25rem 0 .75rem; }
.soft { color: var(--soft); }
.below { margin-top: 1.5rem; }
section > p:last-child, .card > p:last-child { margin-bottom: 0; }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .75rem 0 0; list-style: none; }
.notice { border-left: .25rem solid var(--wait); }
.notice.bad { border-left-color: var(--bad); background: var(--bad-ground); }
.state { display: inline-block; padding: .1rem .6rem; border: 1px solid currentColor; border-radius: 1rem; color: var(--wait);
  font-size: .85rem; font-weight: 600; }
.state.good { color: var(--good); }
.state.bad { color: var(--bad); }
dl { display: grid; grid-template-columns: minmax(8rem, 12rem) 1fr; gap: .35rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; }
dd, td, code, pre, h1 { unicode-bidi: isolate; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
.scroll { overflow-x: auto; }
code, pre { font: .85rem/1.5 ui-monospace, monospace; }
pre { margin: 0; white-space: pre-wrap; max-height: 24rem; overflow: auto; }
label { display: block; margin-top: 1rem; font-weight: 600; }
label:first-of-type { margin-top: 0; }
label span { font-weight: 400; color: var(--soft); }
input { width: 100%; margin-top: .25rem; padding: .6rem .75rem; border: 1px solid var(--soft); border-radius: .375rem;
  background: var(--ground); color: inherit; font: inherit; }
button { margin-top: 1.25rem; width: 100%; padding: .65rem 1rem; border: 0; border-radius: .375rem; cursor: pointer;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; }
.button { display: block; padding: .6rem 1rem; border: 1px solid var(--accent); border-radius: .375rem; text-align: center;
  text-decoration: none; font-weight: 600; }
header form { display: contents; }
header button { width: auto; margin: 0; padding: 0; background: none; color: var(--accent); font-weight: 400;
  text-decoration: underline; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;
