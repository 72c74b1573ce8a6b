"""The report as one HTML file without scripts, which loads nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from rt4chart_collector.console.app.section import TEMPLATES
from rt4chart_collector.console.app.static_files import FOLDER as STATIC
from rt4chart_collector.console.view.templates import template_environment
from rt4chart_collector.report.gather import PeriodReport
from rt4chart_collector.report.trend import trend_chart

HERE = Path(__file__).parent / "templates"
STYLES = ((STATIC, "console.css"), (HERE, "report.css"))


def render_report(
    report: PeriodReport, *, made_ns: int, console: str = "", has_texts: bool = True
) -> str:
    """The HTML text; its links lead to `console`, and there are none if it is empty.

    Without `has_texts`, claims are left out, and issue titles too, because they may quote claims.
    """
    # The styles are the product's own files, so they may go unescaped into the page.
    styles = [(folder / name).read_text("utf-8") for folder, name in STYLES]
    return (
        template_environment([HERE, TEMPLATES])
        .get_template("report.html")
        .render(
            report=report,
            period=report.scope,
            made_ns=made_ns,
            console=console.rstrip("/"),
            has_texts=has_texts,
            styles=Markup("\n").join(map(Markup, styles)),
            trend=trend_chart,
            step_s=report.step_s,
        )
    )
