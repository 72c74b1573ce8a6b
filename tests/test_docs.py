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
from otel_rt4chart.core.settings import reference
from otel_rt4chart.faithful import assert_faithful
from otel_rt4chart.settings import application as application
from rt4chart_clustering.core import settings as batch
from rt4chart_collector.core import settings as service
from tests.links import links, resolves

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SETTINGS = (DOCS / "reference/settings.md").read_text()
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "models/*.md", "training/*.md")
    for page in ROOT.glob(pattern)
    if "_build" not in page.parts
)
EXAMPLES = (
    "understand/verification.md",
    "understand/trails.md",
    "understand/rates.md",
    "understand/corrected-rates.md",
    "start/assert-in-tests.md",
)
CODE = ("otel_rt4chart", "collector", "clustering", "tests", "benchmarks", "examples", "training")
# What names a page: a message, a comment or a docstring.
NAMED = re.compile(r"\bdocs/[\w/-]+\.(?:md|png|svg)\b")
# Others' repositories have such paths, too.
ELSEWHERE = ("docs/gen-ai/", "docs/general/")


def read(page: str) -> str:
    """A page of the documentation."""
    return (DOCS / page).read_text()


@pytest.mark.parametrize("module", [application, service, batch], ids=lambda one: one.__name__)
def test_the_reference_of_settings_is_what_the_declarations_say(module: ModuleType) -> None:
    """`python -m MODULE` prints the tables between that module's markers."""
    (told,) = re.findall(
        rf"<!-- python -m {re.escape(module.__name__)} -->\n\n(.*?)\n<!-- end -->",
        SETTINGS,
        flags=re.DOTALL,
    )

    assert told == reference(*module.SECTIONS)


def test_every_command_is_documented() -> None:
    """Each subcommand is in the list of commands."""
    page = read("reference/commands.md")

    assert [name for name in load_commands() if f"`rt4chart {name}`" not in page] == []


def test_links_lead_somewhere() -> None:
    """Each relative link names a file that exists, and a heading of it if it names one."""
    broken = [
        (str(page.relative_to(ROOT)), target)
        for page in PAGES
        for target in links(page)
        if not resolves(page, target)
    ]

    assert broken == []


def test_every_page_is_in_the_index() -> None:
    """Each page of docs/ is listed once in the index, or in the index of decisions."""
    listed = [
        (index.parent / target).resolve()
        for index in (DOCS / "index.md", DOCS / "decisions/index.md")
        for target in links(index)
    ]

    pages = {page for page in PAGES if page.is_relative_to(DOCS)} - {DOCS / "index.md"}
    assert sorted(listed) == sorted(pages)


def test_pages_that_the_code_names_exist() -> None:
    """A message, a comment or a docstring that names a page names one that is there."""
    files = [
        file
        for folder in CODE
        for pattern in ("*.py", "*.yml", "*.yaml", "*.html")
        for file in (ROOT / folder).rglob(pattern)
    ]
    named = {
        (str(file.relative_to(ROOT)), name)
        for file in (*files, ROOT / "docker-compose.yml", ROOT / "Makefile")
        for name in NAMED.findall(file.read_text())
        if not name.startswith(ELSEWHERE)
    }

    assert sorted(one for one in named if not (ROOT / one[1]).exists()) == []


@pytest.mark.parametrize("page", EXAMPLES)
def test_the_python_examples_of_a_page_do_what_they_say(page: str) -> None:
    """Each code block is run, the comments behind its expressions are compared."""
    blocks = re.findall(r"```python\n(.*?)```", read(page), flags=re.DOTALL)
    assert len(blocks) > 0
    for block in blocks:
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
    boxes = re.findall(r"```text\n(.*?)\n```", read("understand/verification.md"), re.DOTALL)

    assert "\n\n".join(boxes) == run.stdout.rstrip()


def test_the_misleading_answer_of_the_page_prints_what_it_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The code block is run, and its output is the box below it."""
    page = read("understand/misleading.md")
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (box,) = re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)

    exec(block, {})  # noqa: S102 - our own documentation

    assert capsys.readouterr().out == box


def test_the_failure_that_the_page_on_testing_shows_is_the_real_one() -> None:
    """Word for word."""
    with pytest.raises(AssertionError) as failure:
        assert_faithful("The free trial lasts 30 days.", ["The free trial lasts 14 days."])

    assert str(failure.value) in read("start/assert-in-tests.md")
