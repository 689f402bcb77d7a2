"""The report of a site job as people read it: found by version or built from what there is, then written in a form."""

from holdfast.views.reports.html import as_html
from holdfast.views.reports.markdown import as_markdown
from holdfast.views.reports.versions import (
    FORMS,
    ReportRequest,
    ReportVersion,
    can_be_built,
    report_of,
    report_reader,
    versions_of,
    written,
)

__all__ = [
    "FORMS",
    "ReportRequest",
    "ReportVersion",
    "as_html",
    "as_markdown",
    "can_be_built",
    "report_of",
    "report_reader",
    "versions_of",
    "written",
]
