"""The search page, its script and the modal. The script draws the table and opens the modal as the site's own would."""

from __future__ import annotations

from html import escape

from holdfast.demo.court.files import CourtFile

PAGE_PATH = "/en/court-files-and-decisions/court-files"
API_PATH = "/api/court-files"

_STYLE = """
body{margin:0;font:16px/1.5 Lato,Arial,sans-serif} header{background:#26374a;color:#fff;padding:1rem 2rem}
main{max-width:1100px;margin:1rem auto;padding:0 1rem} .nav-tabs{display:flex;list-style:none;padding:0;gap:.3rem}
.nav-link{padding:.4rem .8rem;border:1px solid #ccd;display:block} .nav-link.active{background:#eef}
.tab-pane{display:none;padding:1rem 0} .tab-pane.active{display:block}
table{width:100%;border-collapse:collapse} th,td{border:1px solid #ccd;padding:.3rem .5rem;text-align:left}
#loadingscreen{display:none;position:fixed;inset:0;background:rgba(0,0,0,.4);color:#fff;z-index:9}
.modal{display:none;position:fixed;inset:5%;background:#fff;border:2px solid #26374a;overflow:auto;z-index:5}
.modal.show{display:block} .modal-content{padding:1rem}
"""

_SCRIPT = """
(function () {
  var draws = 0, table = document.getElementById('datatable'), body = table.tBodies[0];
  var info = document.getElementById('datatable_info'), modal = document.getElementById('ModalForm');
  var loading = document.getElementById('loadingscreen'), fresh = document.body.getAttribute('data-fresh') === '1';
  function by(id) { return document.getElementById(id); }
  Array.prototype.forEach.call(document.querySelectorAll('.nav-link'), function (link) {
    link.addEventListener('click', function (event) {
      event.preventDefault();
      Array.prototype.forEach.call(document.querySelectorAll('.nav-link, .tab-pane'), function (part) {
        part.classList.remove('active');
      });
      link.classList.add('active'); document.querySelector(link.getAttribute('href')).classList.add('active');
    });
  });
  function miss() {
    body.innerHTML = '<tr class="odd"><td valign="top" colspan="5" class="dataTables_empty">' +
      'No data available in table</td></tr>';
    info.textContent = 'Showing 0 to 0 of 0 entries';
  }
  function draw(rows) {
    if (!rows.length) { miss(); return; }
    body.textContent = '';
    rows.forEach(function (row) {
      var tr = document.createElement('tr');
      [row.court_number, row.style_of_cause, row.nature_of_proceeding].forEach(function (text) {
        var td = document.createElement('td'); td.textContent = text; tr.appendChild(td);
      });
      ['more', 're'].forEach(function (id) {
        var td = document.createElement('td'), button = document.createElement('button');
        button.id = id; button.type = 'button'; button.className = 'btn btn-info';
        button.setAttribute('data-number', row.court_number);
        button.textContent = id === 're' ? 'RE' : 'More'; td.appendChild(button); tr.appendChild(td);
      });
      body.appendChild(tr);
    });
    info.textContent = 'Showing 1 to ' + rows.length + ' of ' + rows.length + ' entries';
  }
  function get(url, then) {
    var asked = new XMLHttpRequest(); asked.open('GET', url);
    asked.setRequestHeader('X-Requested-With', 'XMLHttpRequest');
    asked.onload = function () { then(asked); };
    asked.onerror = function () { loading.style.display = 'none'; by('notice').textContent = 'Network error'; };
    asked.send();
  }
  function answered(asked) {
    var type = asked.getResponseHeader('content-type') || '';
    if (asked.status !== 200 || type.indexOf('json') < 0) {
      document.open(); document.write(asked.responseText); document.close(); return;
    }
    var answer = JSON.parse(asked.responseText);
    if (asked.getResponseHeader('x-overlay') !== 'stays') { loading.style.display = 'none'; }
    var after = Number(asked.getResponseHeader('x-draw-after') || 0);
    if (asked.getResponseHeader('x-draw-first') === 'miss') { miss(); }
    window.setTimeout(function () { draw(answer.data); table.setAttribute('data-draw', answer.draw); }, after);
    var again = Number(asked.getResponseHeader('x-redraw-after') || 0);
    if (again) { window.setTimeout(function () { draw(answer.data); }, after + again); }
  }
  by('tab02Submit').addEventListener('click', function (event) {
    event.preventDefault(); draws += 1; loading.style.display = 'block';
    var number = fresh ? '' : by('selectCourtNumber').value.trim(); fresh = false;
    var query = '?court=' + by('tab02selectCourt').value + '&number=' + encodeURIComponent(number) + '&draw=' + draws;
    get('%(api)s' + query, answered);
  });
  by('tab02Clear').addEventListener('click', function (event) {
    event.preventDefault(); by('selectCourtNumber').value = ''; miss();
  });
  body.addEventListener('click', function (event) {
    var button = event.target.closest('button'); if (!button) { return; }
    var number = button.getAttribute('data-number');
    loading.style.display = 'block';
    get('%(api)s/' + encodeURIComponent(number) + (button.id === 're' ? '/entries' : '/parties'), function (asked) {
      loading.style.display = 'none';
      if (asked.status !== 200) { document.open(); document.write(asked.responseText); document.close(); return; }
      modal.querySelector('.modal-content').innerHTML = asked.responseText; modal.classList.add('show');
      modal.setAttribute('aria-hidden', 'false');
    });
  });
  modal.addEventListener('click', function (event) {
    if (event.target.matches('[data-dismiss="modal"]')) { modal.classList.remove('show'); }
  });
  miss();
})();
"""


def search_page(*, is_fresh: bool) -> bytes:
    """`is_fresh`: the first query of this page is sent with an empty input, as after a session restart."""
    return f"""<!DOCTYPE html>
<html lang="en" dir="ltr">
<head><meta charset="utf-8"><title>Court Files - Federal Court of the Northern Shore</title>
<style>{_STYLE}</style></head>
<body data-fresh="{int(is_fresh)}">
<header><strong>Federal Court of the Northern Shore</strong></header>
<main><h1>Court Files</h1><p id="notice" role="status"></p>
<ul class="nav nav-tabs" role="tablist">
<li class="nav-item"><a class="nav-link active" data-toggle="tab" href="#tab01">Search by party name</a></li>
<li class="nav-item"><a class="nav-link" data-toggle="tab" href="#tab02">Search by court number</a></li>
<li class="nav-item"><a class="nav-link" data-toggle="tab" href="#tab03">Intellectual property</a></li>
<li class="nav-item"><a class="nav-link" data-toggle="tab" href="#tab04">Related cases</a></li>
</ul>
<div class="tab-content">
<div class="tab-pane active" id="tab01"><label>Party name <input id="selectPartyName" type="text"></label></div>
<div class="tab-pane" id="tab02"><form>
<label>Court <select id="tab02selectCourt"><option value="t">Federal Court</option>
<option value="a">Federal Court of Appeal</option><option value="b">Both</option></select></label>
<label>Court number <input id="selectCourtNumber" type="text" placeholder="IMM-1-49"></label>
<button id="tab02Submit" type="submit" class="btn btn-primary">Submit</button>
<button id="tab02Clear" type="button" class="btn">Clear</button></form></div>
<div class="tab-pane" id="tab03"><label>Patent or trademark <input id="selectProperty" type="text"></label></div>
<div class="tab-pane" id="tab04"><label>Related to <input id="selectRelated" type="text"></label></div>
</div>
<table id="datatable" class="table table-striped dataTable">
<thead><tr><th>Court Number</th><th>Style of Cause</th><th>Nature of Proceeding</th><th>Parties</th><th>More</th></tr>
</thead>
<tbody></tbody></table><div id="datatable_info" class="dataTables_info"></div>
</main>
<div id="loadingscreen">Loading, please wait ...</div>
<div class="modal fade" id="ModalForm" role="dialog" aria-hidden="true"><div class="modal-content"></div></div>
<script>{_SCRIPT % {"api": API_PATH}}</script>
</body></html>
""".encode()


_HEADS = "<tr><th>ID</th><th>Date Filed</th><th>Office</th><th>Recorded Entry Summary</th><th>Download</th></tr>"
_TEMPLATE = (
    "<tr><td>#</td><td>YYYY-MM-DD</td><td>City</td><td>Name of document</td><td>Link, where there is one</td></tr>"
)


def modal_of(file: CourtFile, *, without_header: str = "", without_entries: bool = False) -> bytes:
    """The modal of a case. `without_header` leaves a line's value out, as a half-loaded modal does."""
    lines = {
        "Type": file.case_type,
        "Nature of Proceeding": file.nature,
        "Office": file.office,
        "Language": file.language,
        "Type of Action": file.action,
        "Filing Date": file.filed,
    }
    if without_header:
        lines[without_header] = ""
    header = "\n".join(f"<p><strong>{name} :</strong> &nbsp;{escape(text)}</p>" for name, text in lines.items())
    rows = "\n".join(
        f"<tr><td>{entry.number}</td><td>{entry.day}</td><td>{escape(entry.office)}</td>"
        f"<td>{escape(entry.summary)}</td><td></td></tr>"
        for entry in (() if without_entries else file.entries)
    )
    return f"""<div class="modal-header"><h4 class="modal-title">Recorded Entry Information :   {file.case_id}</h4>
<button type="button" class="close" data-dismiss="modal">&times;</button></div>
<div class="modal-body">
{header}
<table class="table"><caption>Explanation of the columns</caption>
<thead>{_HEADS}</thead><tbody>{_TEMPLATE}</tbody></table>
<table class="table table-striped"><caption>Information about the court file</caption>
<thead>{_HEADS}</thead><tbody>
{rows}
</tbody></table></div>
""".encode()


def parties_of(file: CourtFile) -> bytes:
    applicant, _, respondent = file.style.partition(" v. ")
    return f"""<div class="modal-header"><h4 class="modal-title">Parties :   {file.case_id}</h4></div>
<div class="modal-body">
<p>Applicant: {escape(applicant)}</p><p>Respondent: {escape(respondent)}</p></div>
""".encode()


def block_page() -> bytes:
    return b"""<!DOCTYPE html><html lang="en"><head><title>Access denied</title></head><body><h1>Access denied</h1>
<p>Too many requests from your address. Please complete the captcha to continue; we are checking your browser.</p>
<form id="captcha"><input type="checkbox"> I am not a robot</form></body></html>
"""


def maintenance_page() -> bytes:
    return b"""<!DOCTYPE html><html lang="en"><head><title>Maintenance</title></head>
<body><h1>Scheduled maintenance</h1>
<p>The court files are not available at this time. Please try again later.</p></body></html>
"""
