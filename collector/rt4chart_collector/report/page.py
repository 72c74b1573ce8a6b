"""The report as HTML: one file, without scripts, that asks for nothing from outside."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from rt4chart_collector.console.app.section import TEMPLATES
from rt4chart_collector.console.app.static import FOLDER as STATIC
from rt4chart_collector.console.view.environment import environment_of
from rt4chart_collector.report.gather import Report
from rt4chart_collector.report.trend import trend

HERE = Path(__file__).parent / "templates"
STYLES = ((STATIC, "console.css"), (HERE, "report.css"))


def page(report: Report, *, made_ns: int, console: str = "", has_texts: bool = True) -> str:
    """The file's text; `console` is the address that its links go to, none where it is empty.

    Without `has_texts` no claim is quoted, nor an issue's title, in which words of claims may be.
    """
    # Styles are ours: nothing of anybody else's is in them.
    styles = [(folder / name).read_text("utf-8") for folder, name in STYLES]
    return (
        environment_of([HERE, TEMPLATES])
        .get_template("report.html")
        .render(
            report=report,
            period=report.period,
            made_ns=made_ns,
            console=console.rstrip("/"),
            has_texts=has_texts,
            styles=Markup("\n").join(map(Markup, styles)),
            trend=trend,
            step_s=report.period.step_s,
        )
    )
