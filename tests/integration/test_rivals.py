"""Published detectors with a real model on a real server: each gives a verdict, or says why not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.judges.names import RIVAL_NAMES
from tests.integration.llama import Llama, labelled_answers, llama, use_llama

pytestmark = pytest.mark.e2e
OF_PACKAGES = {"ragas", "deepeval"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """One server for all tests."""
    with llama(tmp_path_factory.mktemp("llama")) as running:
        yield running


@pytest.mark.parametrize("judge", RIVAL_NAMES)
def test_a_published_detector_judges_whole_answers(
    server: Llama,
    judge: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With what it cost; beside a judge of claims, in one run over the same rows."""
    if judge in OF_PACKAGES and find_spec(judge) is None:
        pytest.skip(f"the package {judge} is not installed: pip install {judge}")
    use_llama(server, monkeypatch)
    folder = labelled_answers(tmp_path)
    main(["bench", str(folder), "--judge", f"rules,{judge}", "--limit", "1", "--json"])

    rules, rival = json.loads(capsys.readouterr().out)["runs"]
    (answer,) = rival["answers"]
    assert [one["id"] for one in rules["answers"]] == [answer["id"]]
    assert (answer["score"] is None) == bool(answer["reason"])
    assert answer["score"] is None or 0 <= answer["score"] <= 1
    assert (answer["usage"]["calls"] > 0) == (judge != "heuristic")
    assert (answer["usage"]["output_tokens"] > 0) == (judge != "heuristic")
    assert rival["metrics"]["span F1"] is None
