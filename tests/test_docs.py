"""The documentation says what is there: settings, commands, links and the example."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from otel_rt4chart.cli import load_commands
from otel_rt4chart.core.settings import reference, settings_of
from otel_rt4chart.faithful import assert_faithful
from otel_rt4chart.settings import application as application
from rt4chart_clustering.core import settings as batch
from rt4chart_collector.core import settings as service

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/**/*.md")])


def read(*pages: str) -> str:
    """These pages as one text."""
    return "\n".join((ROOT / page).read_text() for page in pages)


SERVED = (service.ServiceSettings, service.ConsoleSettings)
MONITORED = (service.MonitorSettings, service.AlertSettings)
PAGES_OF_SETTINGS = {
    ("docs/instrument.md", "docs/sampling.md", "docs/inline.md"): application.SECTIONS[:1],
    ("docs/judges.md",): (application.JudgeSettings,),
    ("docs/service.md",): (*SERVED, *MONITORED, batch.TicketSettings),
    ("docs/monitoring.md",): (service.MonitorSettings,),
    ("docs/alerts.md",): (service.AlertSettings,),
    ("docs/issues.md",): (batch.TicketSettings,),
}


@pytest.mark.parametrize(("pages", "sections"), PAGES_OF_SETTINGS.items())
def test_every_setting_is_documented(pages: tuple[str, ...], sections: tuple[type, ...]) -> None:
    """Each variable of these sections stands in its page or pages."""
    text = read(*pages)
    names = [one.variable for one in settings_of(*sections)]

    assert names
    assert [name for name in names if f"`{name}`" not in text] == []


@pytest.mark.parametrize("module", [application, service, batch], ids=lambda one: one.__name__)
def test_the_reference_of_settings_is_what_the_declarations_say(module: ModuleType) -> None:
    """`python -m MODULE` prints the tables between that module's markers."""
    (told,) = re.findall(
        rf"<!-- python -m {re.escape(module.__name__)} -->\n\n(.*?)\n<!-- end -->",
        read("docs/settings.md"),
        flags=re.DOTALL,
    )

    assert told == reference(*module.SECTIONS)


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
    assert shown
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
