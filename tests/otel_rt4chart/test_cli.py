from __future__ import annotations

import subprocess
import sys

import pytest

from otel_rt4chart.cli import build_parser, load_commands, main


def test_every_command_of_the_design_that_is_built_is_there() -> None:
    """The packages' entry points make one command."""
    commands, missing = load_commands()

    core = {"bench", "doctor", "verify"}
    store = {
        "agreement",
        "calibrate",
        "backfill",
        "demo",
        "export",
        "label",
        "migrate",
        "replay",
        "sql",
        "up",
        "work",
    }
    seen = {"alerts", "console", "report"}
    assert set(commands) == core | store | seen | {"cluster", "evalset", "gate", "issues"}
    assert missing == {}


def test_a_wanted_command_is_loaded_alone() -> None:
    """`verify` does not pay for the database's start."""
    assert set(load_commands("verify")[0]) == {"verify"}


def test_a_command_whose_package_is_missing_is_named_with_its_extra() -> None:
    """The help says what to install instead of hiding the command."""
    parser = build_parser({}, {"up": "chdb"})

    assert "rt4chart up needs chdb: pip install 'otel-rt4chart[all]'" in parser.format_help()


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
