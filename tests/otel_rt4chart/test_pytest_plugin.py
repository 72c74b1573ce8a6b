from __future__ import annotations

import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from otel_rt4chart.faithful import assert_faithful
from otel_rt4chart.pytest_plugin import Faithfulness

TEST = """
def test_faithful(rt4chart):
    rt4chart.assert_faithful("The trial lasts 14 days.", ["The trial lasts 14 days."])

def test_unfaithful(rt4chart):
    rt4chart.assert_faithful("The trial lasts 30 days.", ["The trial lasts 14 days."])
"""


# LangSmith's plugin comes with langchain-core and costs every start of pytest a second.
PYTEST = (*("-m", "pytest", "-q"), *("-p", "no:cacheprovider"), *("-p", "no:langsmith_plugin"))


def pytest_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of the user's tests, with the plugin as it is installed."""
    return subprocess.run(
        [sys.executable, *PYTEST, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_fixture_fails_a_test_with_the_words_and_the_evidence(tmp_path: Path) -> None:
    """Without import or configuration; it shows the line of the test and none of our frames."""
    (tmp_path / "test_app.py").write_text(TEST)

    run = pytest_in(tmp_path)

    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "⟦30 days⟧" in run.stdout
    assert "contradicts: [p1] The trial lasts 14 days." in run.stdout
    assert "test_app.py:6: AssertionError" in run.stdout
    assert "faithful.py" not in run.stdout
    assert "pytest_plugin.py" not in run.stdout


def test_the_plugin_loads_nothing_until_a_test_asks_and_fails_like_any_assertion(
    tmp_path: Path,
) -> None:
    """It is in every run of the user's tests; its failure is an AssertionError to expect."""
    (tmp_path / "test_app.py").write_text(
        "import sys\n\nimport pytest\n\n"
        "def test_before():\n"
        "    assert 'otel_rt4chart.verify' not in sys.modules\n\n"
        "def test_it(rt4chart):\n"
        "    with pytest.raises(AssertionError):\n"
        "        rt4chart.assert_faithful('It lasts 30 days.', ['It lasts 14 days.'])\n"
    )

    run = pytest_in(tmp_path)

    assert (run.returncode, "2 passed" in run.stdout) == (0, True), run.stdout


def test_the_judge_is_chosen_by_option_or_configuration(tmp_path: Path) -> None:
    """An unknown one is an error that lists the known ones."""
    (tmp_path / "test_app.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\nrt4chart_judge = nobody\n")

    configured = pytest_in(tmp_path)
    chosen = pytest_in(tmp_path, "--rt4chart-judge", "local", "-k", "test_faithful")

    assert configured.returncode == pytest.ExitCode.USAGE_ERROR
    output = configured.stdout + configured.stderr
    assert output.count("unknown judge 'nobody': expected one of cascade, local") == 1
    assert "Traceback" not in output
    assert chosen.returncode == 0


def test_the_fixture_takes_what_the_function_takes() -> None:
    """But for the judge, which is configured once."""
    taken = signature(Faithfulness.assert_faithful).parameters

    assert {*taken} - {"self"} == {*signature(assert_faithful).parameters} - {"judge"}
