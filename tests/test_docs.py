"""The documentation says what is there: settings, commands, links and the example."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from otel_rt4chart.cli import load_commands
from otel_rt4chart.faithful import assert_faithful
from otel_rt4chart.settings import application as application
from rt4chart_clustering.tickets.settings import TicketSettings
from rt4chart_collector.core import settings as service
from rt4chart_collector.core.console_settings import ConsoleSettings
from rt4chart_collector.core.monitor_settings import MonitorSettings
from rt4chart_collector.notify.settings import AlertSettings

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/**/*.md")])


def read(*pages: str) -> str:
    """These pages as one text."""
    return "\n".join((ROOT / page).read_text() for page in pages)


def test_every_setting_is_documented() -> None:
    """Each variable of the service and of the application side stands in its page or pages."""
    pages = ("docs/instrument.md", "docs/sampling.md", "docs/inline.md")
    served = [*fields(service.Settings), *fields(ConsoleSettings)]
    names = [f"{service.PREFIX}{one.name.upper()}" for one in served]
    ours = [one.metadata["name"] for one in fields(application.Settings)]
    judges = [one.metadata["name"] for one in fields(application.JudgeSettings)]
    tickets = [one.metadata["name"] for one in fields(TicketSettings)]

    assert [name for name in names if f"`{name}`" not in read("docs/service.md")] == []
    assert [name for name in ours if f"`{name}`" not in read(*pages)] == []
    assert [name for name in judges if f"`{name}`" not in read("docs/judges.md")] == []
    monitor = [f"{service.PREFIX}{one.name.upper()}" for one in fields(MonitorSettings)]
    for page in ("docs/monitoring.md", "docs/service.md"):
        assert [name for name in monitor if f"`{name}`" not in read(page)] == []
    alerts = [f"{service.PREFIX}{one.name.upper()}" for one in fields(AlertSettings)]
    for page in ("docs/alerts.md", "docs/service.md"):
        assert [name for name in alerts if f"`{name}`" not in read(page)] == []
    for page in ("docs/issues.md", "docs/service.md"):
        assert [name for name in tickets if f"`{name}`" not in read(page)] == []


def test_every_command_is_in_the_readme() -> None:
    """Somebody who reads it knows what can be run."""
    readme = read("README.md")

    assert [name for name in load_commands()[0] if f"rt4chart {name}" not in readme] == [
        "demo"  # run by `make demo`
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file that exists."""
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())

    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", ["verification", "trail", "testing", "rates"])
def test_the_python_example_of_a_page_does_what_it_says(page: str) -> None:
    """The code block is run, the comments behind its expressions are compared."""
    (block,) = re.findall(r"```python\n(.*?)```", read(f"docs/{page}.md"), flags=re.DOTALL)
    names: dict[str, object] = {}

    exec(block, names)  # noqa: S102 - our own documentation

    shown = re.findall(r"^(\S.*?)  # (.+)$", block, flags=re.MULTILINE)
    assert len(shown) > 0
    for expression, expected in shown:
        assert eval(expression, names) == ast.literal_eval(expected)  # noqa: S307 - ours too


def test_the_walk_through_a_verdict_shows_what_the_example_prints() -> None:
    """Every box of the page is output of the script, and all of its output is on the page."""
    run = subprocess.run(
        [sys.executable, "examples/how_a_verdict_is_reached.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    boxes = re.findall(r"```text\n(.*?)\n```", read("docs/how-a-verdict-is-reached.md"), re.DOTALL)

    assert "\n\n".join(boxes) == run.stdout.rstrip()


def test_the_failure_that_the_page_on_testing_shows_is_the_real_one() -> None:
    """Word for word."""
    with pytest.raises(AssertionError) as failure:
        assert_faithful("The free trial lasts 30 days.", ["The free trial lasts 14 days."])

    assert str(failure.value) in read("docs/testing.md")
