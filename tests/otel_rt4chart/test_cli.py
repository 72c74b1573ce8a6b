from __future__ import annotations

import subprocess
import sys
from pkgutil import resolve_name

import pytest

from otel_rt4chart.cli import build_parser, load_commands, main
from otel_rt4chart.core.extras import EXTRAS
from otel_rt4chart.judges.build import JUDGES
from otel_rt4chart.judges.judge_failure import KINDS
from otel_rt4chart.judges.names import JUDGE_NAMES
from rt4chart_clustering.cli import evalset
from rt4chart_clustering.cli.issues import SUBCOMMANDS as ISSUES
from rt4chart_clustering.core.defaults import TICKET_SYSTEMS
from rt4chart_clustering.tickets.systems import SYSTEMS
from rt4chart_collector.cli import export, label, replay
from rt4chart_collector.cli.alerts import SUBCOMMANDS as ALERTS
from rt4chart_collector.labelling import label_files
from rt4chart_collector.pipeline.retry import GONE
from rt4chart_collector.store.answers.export import FORMATS, SOURCES
from rt4chart_collector.store.issues.eval_sets import CaseState

HEAVY = (
    *("chdb", "clickhouse_connect", "numpy", "sklearn", "httpx", "openai", "onnxruntime"),
    *("starlette", "uvicorn", "grpc", "jinja2", "plotly", "rich", "asyncio"),
    *("opentelemetry.exporter", "opentelemetry.sdk", "otel_rt4chart.verify.pipeline"),
)
# Prints the help of every command, and then the heavy modules that this has imported.
HELP = f"""
import sys
from otel_rt4chart.cli import load_commands, main
more = [["issues", "list"], ["alerts", "test"], ["judge", "get"]]
for words in [[], *([name] for name in load_commands()), *more]:
    try:
        main([*words, "--help"])
    except SystemExit as ended:
        assert ended.code == 0
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_every_command_of_the_design_that_is_built_is_there() -> None:
    """The packages' entry points make one command."""
    commands = load_commands()

    core = {"bench", "check", "doctor", "judge", "verify"}
    store = {
        "agreement",
        "calibrate",
        "backfill",
        "demo",
        "export",
        "label",
        "migrate",
        "repair",
        "replay",
        "sql",
        "up",
        "work",
    }
    seen = {"alerts", "answers", "compare", "console", "report", "trail"}
    assert set(commands) == core | store | seen | {"cluster", "evalset", "gate", "issues"}


def test_every_reference_of_a_command_names_a_function() -> None:
    """Options and code are imported by these references, which no type checker reads."""
    references = [
        *(one.options for one in load_commands().values()),
        *(one.run for one in load_commands().values()),
        *(one.run for one in ALERTS),
        *(one.run for one in ISSUES.values()),
    ]

    assert [name for name in references if not callable(resolve_name(name))] == []


def test_names_that_options_offer_are_those_that_the_code_knows() -> None:
    """They are declared apart from the code, so that help does not import it."""
    declared = (
        JUDGE_NAMES,
        replay.REASONS,
        export.TABLES,
        export.FORMATS,
        label.FORMATS,
        evalset.CASE_STATES,
        TICKET_SYSTEMS,
    )
    known = (JUDGES, (*KINDS, GONE), SOURCES, FORMATS, label_files.FORMATS, CaseState, SYSTEMS)

    assert declared == tuple(map(tuple, known))


def test_commands_of_a_missing_extra_are_listed_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The help says what to install instead of hiding the commands."""
    monkeypatch.setitem(EXTRAS, "clustering", ("no_such_module",))

    shown = build_parser(load_commands()).format_help()

    assert "group the failures into named issues" in shown
    advice = "cluster, demo, evalset, issues: needs no_such_module: "
    assert f"{advice}pip install 'otel-rt4chart[clustering]'" in shown


def test_a_command_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and status 2; its help needs no such package."""
    monkeypatch.delitem(sys.modules, "rt4chart_collector.commands.sql", raising=False)
    monkeypatch.setitem(sys.modules, "rt4chart_collector.store.engine.read_only", None)

    assert main(["sql", "SELECT 1"]) == 2

    assert capsys.readouterr().err == (
        "rt4chart sql: needs rt4chart_collector.store.engine.read_only: "
        "pip install 'otel-rt4chart[collector]'\n"
    )


def test_no_command_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and the usage."""
    with pytest.raises(SystemExit) as stopped:
        main([])

    assert stopped.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_a_mistyped_command_is_answered_with_the_one_that_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, and status 2; without one that is near, where all are listed."""
    assert [main(["isues"]), main(["nothing", "--like", "it"])] == [2, 2]

    assert capsys.readouterr().err.splitlines() == [
        "rt4chart: no command 'isues': did you mean issues?",
        "rt4chart: no command 'nothing': rt4chart --help lists all",
    ]


@pytest.mark.parametrize(
    ("statement", "left_out"),
    [
        ("from otel_rt4chart.cli import main; main(['--version'])", "otel_rt4chart.verify"),
        ("import otel_rt4chart.verify.core.model", "otel_rt4chart.verify.pipeline"),
        ("import rt4chart_collector.commands.sql", "otel_rt4chart.verify.pipeline"),
    ],
)
def test_what_is_not_needed_is_not_loaded(statement: str, left_out: str) -> None:
    """The version loads no subcommand, a subcommand that reads no judge."""
    script = f"import sys, atexit; atexit.register(lambda: print({left_out!r} in sys.modules))"
    out = subprocess.run(
        [sys.executable, "-c", f"{script}; {statement}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    assert out.stdout.split()[-1] == "False"


def test_help_imports_nothing_heavy() -> None:
    """Help and usage errors of all commands come before a database, a model or a server does."""
    out = subprocess.run(
        [sys.executable, "-c", HELP], capture_output=True, text=True, check=True, timeout=60
    )

    assert out.stdout.splitlines()[-1] == "[]"
