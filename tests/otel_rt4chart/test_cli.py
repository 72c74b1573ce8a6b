from __future__ import annotations

import pytest

from otel_rt4chart.cli import build_parser, load_commands, main


def test_every_command_of_the_design_that_is_built_is_there() -> None:
    """The packages' entry points make one command."""
    commands, missing = load_commands()

    core = {"bench", "doctor", "verify"}
    store = {"agreement", "backfill", "demo", "export", "migrate", "replay", "sql", "up", "work"}
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
