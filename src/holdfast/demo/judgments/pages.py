"""The site's HTML: WordPress pages whose tables are drawn by a script of our own that behaves as DataTables 2
does.

Everything is in the page: no file is loaded from elsewhere. The rows come as data in a script, so that the table
and its buttons exist only where JavaScript runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

NONCE_FORMS = 4
LIST_PATH = "/judgments/unreported-judgments/"
REGISTERS_PATH = "/public-registers/"
AJAX_PATH = "/wp-admin/admin-ajax.php"
UPLOADS = "/wp-content/uploads/box_files/"

_STYLE = """
body{margin:0;font:16px/1.5 "Open Sans",Arial,sans-serif;color:#233}
header{background:#12324f;color:#fff;padding:1rem 2rem} header a{color:#fff;margin-right:1.2rem;text-decoration:none}
main{max-width:1180px;margin:2rem auto;padding:0 1rem} table{width:100%;border-collapse:collapse;font-size:14px}
th{background:#eef2f5;text-align:left;cursor:pointer} th,td{padding:.45rem;border-bottom:1px solid #dde}
.pagination{display:flex;list-style:none;padding:0;gap:.2rem}
.page-link{border:1px solid #bcd;background:#fff;padding:.3rem .7rem}
.active .page-link{background:#12324f;color:#fff} .disabled .page-link{color:#aaa}
.icon-dl::before{content:"\\2B07"}
#cookie-banner{position:fixed;bottom:0;left:0;right:0;background:#222;color:#fff;padding:1rem 2rem}
footer{background:#eef2f5;padding:1rem 2rem;font-size:13px;margin-top:3rem}
"""

# A table, its search box, its paging and the download of a file, as the site's own plugin does it.
_SCRIPT = """
(function () {
  var settings = window.__table, rows = settings.rows.slice(), page = 0, length = 25, draw = 0;
  var table = document.querySelector('table[id$="-registers"]'), tbody = table.tBodies[0];
  var wrap = document.createElement('div'); wrap.className = 'dt-container dt-bootstrap5';
  table.parentNode.insertBefore(wrap, table);
  var search = document.createElement('div'); search.className = 'dt-search';
  search.innerHTML = '<label>Search: <input type="search" class="form-control"></label>';
  var info = document.createElement('div'); info.className = 'dt-info'; info.setAttribute('aria-live', 'polite');
  var paging = document.createElement('div'); paging.className = 'dt-paging';
  [search, table, info, paging].forEach(function (part) { wrap.appendChild(part); });

  function cell(text) { var td = document.createElement('td'); td.textContent = text; return td; }
  function redraw() {
    draw += 1; tbody.textContent = '';
    var shown = rows.slice(page * length, page * length + length);
    shown.forEach(function (row) {
      var tr = document.createElement('tr');
      row.cells.forEach(function (text) { tr.appendChild(cell(text)); });
      var last = document.createElement('td');
      row.files.forEach(function (token) {
        var button = document.createElement(settings.tag);
        button.setAttribute('data-dl', token); button.className = 'btn btn-link';
        if (settings.tag === 'a') { button.href = '#'; }
        button.innerHTML = '<i class="icon-dl"></i>'; last.appendChild(button);
      });
      tr.appendChild(last); tbody.appendChild(tr);
    });
    if (!shown.length) { tbody.innerHTML = '<tr><td colspan="9" class="dt-empty">No matching records found</td></tr>'; }
    var first = rows.length ? page * length + 1 : 0;
    info.textContent = 'Showing ' + first + ' to ' + (page * length + shown.length) + ' of ' + rows.length + ' entries';
    pages();
  }
  function pages() {
    var count = Math.ceil(rows.length / length), list = document.createElement('ul'); list.className = 'pagination';
    function add(index, text, off, on) {
      var li = document.createElement('li');
      li.className = 'dt-paging-button page-item' + (off ? ' disabled' : '') + (on ? ' active' : '');
      var button = document.createElement('button'); button.className = 'page-link'; button.type = 'button';
      button.setAttribute('data-dt-idx', index); button.textContent = text; button.disabled = off;
      button.addEventListener('click', function () {
        page = index === 'previous' ? page - 1 : index === 'next' ? page + 1 : index; redraw();
      });
      li.appendChild(button); list.appendChild(li);
    }
    add('previous', '\\u2039', page === 0, false);
    for (var index = 0; index < count; index += 1) { add(index, String(index + 1), false, index === page); }
    add('next', '\\u203a', page >= count - 1, false);
    paging.textContent = ''; paging.appendChild(list);
  }
  search.querySelector('input').addEventListener('input', function (event) {
    var wanted = event.target.value.toLowerCase(); page = 0;
    rows = settings.rows.filter(function (row) { return row.cells.join(' ').toLowerCase().indexOf(wanted) >= 0; });
    redraw();
  });
  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
    head.addEventListener('click', function () {
      var down = head.getAttribute('aria-sort') === 'ascending';
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      rows.sort(function (a, b) { return (down ? -1 : 1) * a.cells[column].localeCompare(b.cells[column]); });
      page = 0; redraw();
    });
  });
  function nonce() {
    var named = window.dl_object || {};
    return named.security || named._nonce || table.getAttribute('data-security') || '';
  }
  table.addEventListener('click', function (event) {
    var button = event.target.closest('[data-dl]'); if (!button) { return; }
    event.preventDefault();
    var token = button.getAttribute('data-dl');
    var form = new URLSearchParams({action: 'dl_bfile', fid: token, fname: token, security: nonce()});
    fetch(settings.ajax, {method: 'POST', body: form, credentials: 'same-origin',
      headers: {'X-Requested-With': 'XMLHttpRequest'}}).then(function (answer) { return answer.text(); })
      .then(function (text) {
        var answer = JSON.parse(text);
        if (!answer || !answer.success) { throw new Error('refused'); }
        window.location.href = answer.data.fid || answer.data.url || answer.data.download_url || answer.data.link;
      }).catch(function () { table.setAttribute('data-error', token); });
  });
  var banner = document.getElementById('cookie-banner');
  if (document.cookie.indexOf('cookie_consent=') >= 0) { banner.hidden = true; }
  banner.querySelector('button').addEventListener('click', function () {
    document.cookie = 'cookie_consent=accepted; path=/'; banner.hidden = true;
  });
  redraw();
})();
"""


def list_page(
    *, title: str, table_id: str, header: Sequence[str], rows: Sequence[dict[str, list[str]]], nonce: str, form: int
) -> bytes:
    """The page of a list. `form` chooses in which of the four known ways the nonce stands in it."""
    attribute = f' data-security="{nonce}"' if form == 3 else ""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in (*header, "Actions"))
    tag = "button" if table_id == "judgment-registers" else "a"
    settings = json.dumps({"ajax": AJAX_PATH, "tag": tag, "rows": rows}).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} &#8211; Judicial Administration of the Northern Reefs</title>
<meta name="generator" content="WordPress 6.7.1">
<style>{_STYLE}</style>
{_nonce_script(nonce, form)}
</head>
<body class="page-template-default page wp-embed-responsive">
<header><strong>Judicial Administration</strong><nav><a href="/">Home</a><a href="{LIST_PATH}">Unreported Judgments</a>
<a href="{REGISTERS_PATH}">Public Registers</a></nav></header>
<main id="content"><h1 class="entry-title">{escape(title)}</h1>
<p>Judgments are published as they are handed down. Corrections are made without notice.</p>
<table id="{table_id}" class="table table-striped dataTable"{attribute}><thead><tr>{heads}</tr></thead>
<tbody></tbody></table>
<noscript><p>Please enable JavaScript to see this list.</p></noscript></main>
<div id="cookie-banner" role="dialog" aria-label="Cookies">This site uses cookies.
<button type="button">Accept</button></div>
<footer>An invented court: every name on this site is made up.</footer>
<script>window.__table = {settings};</script>
<script>{_SCRIPT}</script>
</body>
</html>
""".encode()


def home_page() -> bytes:
    return f"""<!DOCTYPE html>
<html lang="en-GB"><head><meta charset="UTF-8"><title>Judicial Administration of the Northern Reefs</title>
<style>{_STYLE}</style></head><body class="home"><header><strong>Judicial Administration</strong></header><main>
<h1>Judicial Administration of the Northern Reefs</h1>
<ul><li><a href="{LIST_PATH}">Unreported Judgments</a></li><li><a href="{REGISTERS_PATH}">Public Registers</a></li></ul>
</main></body></html>
""".encode()


def error_page(heading: str) -> bytes:
    return f"""<!DOCTYPE html>
<html lang="en-GB"><head><meta charset="UTF-8"><title>{escape(heading)}</title></head>
<body id="error-page"><div class="wp-die-message"><h1>{escape(heading)}</h1><p>There has been a critical error on this
website. Please try again in a few minutes.</p></div></body></html>
""".encode()


def block_page() -> bytes:
    return b"""<!DOCTYPE html>
<html lang="en-GB"><head><title>Access denied</title></head><body><h1>Access denied</h1><p>Too many requests came from
your network. Please solve the captcha.</p></body></html>
"""


def _nonce_script(nonce: str, form: int) -> str:
    match form:
        case 0:
            return f'<script>var dl_object = {{"ajaxurl":"{AJAX_PATH}","security":"{nonce}"}};</script>'
        case 1:
            return f"<script>var dl_object = {{ ajaxurl: '{AJAX_PATH}', security: '{nonce}' }};</script>"
        case 2:
            return f'<script>var dl_object = {{"ajaxurl":"{AJAX_PATH}","_nonce":"{nonce}"}};</script>'
        case _:
            return f"<script>var dl_object = {{ ajaxurl: '{AJAX_PATH}' }};</script>"
