"""The documentation says what is there: settings, commands, links and the example."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from otel_rt4chart import settings as application
from otel_rt4chart.cli import load_commands
from rt4chart_collector import settings as service

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/**/*.md")])


def read(*pages: str) -> str:
    """These pages as one text."""
    return "\n".join((ROOT / page).read_text() for page in pages)


def test_every_setting_is_documented() -> None:
    """Each variable of the service and of the application side stands in its page."""
    names = [f"{service.PREFIX}{one.name.upper()}" for one in fields(service.Settings)]
    ours = [one.metadata["name"] for one in fields(application.Settings)]

    assert [name for name in names if f"`{name}`" not in read("docs/service.md")] == []
    assert [name for name in ours if f"`{name}`" not in read("docs/instrument.md")] == []


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


def test_the_python_example_of_the_method_does_what_it_says() -> None:
    """The code block of docs/verification.md is run, its comments compared."""
    (block,) = re.findall(r"```python\n(.*?)```", read("docs/verification.md"), flags=re.DOTALL)
    names: dict[str, object] = {}

    exec(block, names)  # noqa: S102 - our own documentation

    shown = re.findall(r"^(report\S+)\s+# (.+)$", block, flags=re.MULTILINE)
    assert len(shown) == 4
    for expression, expected in shown:
        assert eval(expression, names) == ast.literal_eval(expected)  # noqa: S307 - ours too
