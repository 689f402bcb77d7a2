"""The style sheet of the HTML report: screen and paper, light and dark."""

CSS = """
:root{color-scheme:light dark;--bg:#fbfaf8;--card:#fff;--ink:#1d2327;--soft:#5b666e;--line:#e2dfd8;--accent:#0b6e6e;
--tint:#e7f1f0;--warn:#8a4b00;--warnbg:#fff3df;--bar:#3c8d8d}
@media (prefers-color-scheme:dark){:root{--bg:#14181b;--card:#1b2125;--ink:#e6e9ea;--soft:#9aa6ad;--line:#2e373c;
--accent:#6cc4bf;--tint:#1d3234;--warn:#f0c37b;--warnbg:#33270f;--bar:#4f9f9c}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
header,.columns,footer{max-width:1080px;margin:0 auto;padding:0 24px}
header{padding-top:44px}
.kicker{color:var(--soft);font-size:13px;letter-spacing:.03em;margin:0}
h1{font-size:40px;line-height:1.1;margin:6px 0 10px;letter-spacing:-.02em;overflow-wrap:anywhere}
.lead{font-size:19px;color:var(--soft);margin:0 0 18px;max-width:46em}
.partial{background:var(--warnbg);color:var(--warn);padding:10px 14px;border-radius:8px;border-left:4px solid currentColor}
.facts{display:flex;flex-wrap:wrap;gap:14px 34px;margin:18px 0;padding:0}
.facts div{min-width:8em;max-width:26em}
dt{font-size:12px;color:var(--soft);text-transform:uppercase;letter-spacing:.06em}
dd{margin:2px 0 0;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:20px 0 8px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tile b{display:block;font-size:26px;font-weight:650;letter-spacing:-.01em}
.tile span{color:var(--soft);font-size:13px}
.columns{display:grid;grid-template-columns:200px minmax(0,1fr);gap:36px;padding-top:18px}
nav{position:sticky;top:20px;align-self:start;font-size:14px}
nav ol{list-style:none;margin:0;padding:0}
nav a{display:block;padding:5px 10px;border-left:2px solid var(--line);color:var(--soft);text-decoration:none}
nav a:hover,nav a:focus{color:var(--accent);border-color:var(--accent)}
main section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:22px 26px;margin:0 0 20px}
.figures{display:grid;grid-template-columns:1fr 1fr;gap:26px 34px}
figure{margin:0;display:flex;flex-direction:column;justify-content:flex-end}
figcaption{color:var(--soft);font-size:13px;margin-top:8px;border-top:1px solid var(--line);padding-top:6px}
svg{width:100%;height:auto;display:block;margin-bottom:auto}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
svg .label{fill:var(--soft)}svg .number{fill:var(--ink)}svg .axis{stroke:var(--line)}
.bar{fill:var(--bar)}
.t-other{fill:#9aa3a8}.t-home{fill:#d55e00}.t-about{fill:#0072b2}.t-team{fill:#cc79a7}.t-products{fill:#009e73}
.t-services{fill:#5aa469}.t-contact{fill:#e69f00}.t-careers{fill:#7a5ea8}.t-pricing{fill:#b8860b}
.t-news{fill:#56b4e9}.t-blog{fill:#3d85c6}
h2{font-size:22px;margin:0 0 12px;letter-spacing:-.01em}
h2 small,h3 small{font-size:12px;font-weight:500;color:var(--soft);margin-left:6px}
h3{font-size:14px;margin:20px 0 6px;text-transform:capitalize}
.said{list-style:none;margin:0;padding:0}
.said li{padding:8px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.said li:first-child{border-top:0}
.said q{font-style:italic}
.topic{display:inline-block;font-size:11px;color:var(--accent);background:var(--tint);border-radius:4px;padding:1px 7px;margin-right:9px;vertical-align:1px}
.flag{color:var(--warn);background:var(--warnbg)}
sup{line-height:0;margin-left:3px}
sup a{font-size:11px;padding:0 3px;color:var(--accent);text-decoration:none}
sup a:hover,sup a:focus{text-decoration:underline}
.evidence{margin:0;padding-left:24px;color:var(--soft);font-size:13.5px}
.evidence li{margin:6px 0;overflow-wrap:anywhere;scroll-margin-top:20px}
.evidence li:target{background:var(--tint);outline:6px solid var(--tint);border-radius:2px;color:var(--ink)}
blockquote{margin:0;display:inline}
blockquote::before{content:"\\201c"}blockquote::after{content:"\\201d\\00a0"}
a.page{color:var(--accent);overflow-wrap:anywhere}
.where,.detail{color:var(--soft);font-size:12.5px}
table{width:100%;border-collapse:collapse;font-size:14px}
th{text-align:left;font-size:12px;font-weight:600;color:var(--soft);padding:4px 10px 6px 0;border-bottom:1px solid var(--line)}
td{padding:7px 10px 7px 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
#pages td:nth-child(2){white-space:nowrap}
td.n{white-space:nowrap;font-variant-numeric:tabular-nums}
.entities td:first-child{width:34%}.entities .passage{color:var(--soft);font-size:13px}
.worded{color:var(--soft);font-size:13px;margin:-6px 0 8px}
.more{color:var(--soft);font-size:13px}
footer{color:var(--soft);font-size:13px;padding-top:8px;padding-bottom:50px}
@media (max-width:820px){.columns{grid-template-columns:minmax(0,1fr)}nav{position:static}nav ol{display:flex;flex-wrap:wrap;gap:4px}
nav a{border-left:0;border-bottom:2px solid var(--line)}.figures,.tiles{grid-template-columns:1fr 1fr}h1{font-size:31px}
main section{padding:18px 16px}}
@media (max-width:520px){.figures{grid-template-columns:minmax(0,1fr)}header,.columns,footer{padding-left:14px;padding-right:14px}
.entities thead{display:none}.entities tr{display:block;border-bottom:1px solid var(--line);padding:6px 0}
.entities td{display:inline;border:0;padding:0 8px 0 0}.entities .passage{display:block}}
@media print{:root{color-scheme:light;--bg:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--accent:#0b5e5e;--tint:#eef4f4;
--warn:#6b3a00;--warnbg:#fff6e8;--bar:#3c8d8d}@page{margin:16mm 15mm}body{font-size:10.5pt}
header,.columns,footer{max-width:none;padding-left:0;padding-right:0}header{padding-top:0}.columns{display:block}nav{display:none}
main section{border:0;border-radius:0;padding:0;margin:0 0 9mm}h2{break-after:avoid;border-bottom:1px solid #999;padding-bottom:3px}
h3{break-after:avoid}figure,.said li,.evidence li,tr,.tile{break-inside:avoid}thead{display:table-header-group}
a.page{color:#0b5e5e;text-decoration:none}}
"""
