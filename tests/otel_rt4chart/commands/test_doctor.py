from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.commands.doctor import (
    Check,
    core_checks,
    criteria_check,
    endpoint_check,
    plain_http_note,
)
from otel_rt4chart.core.extras import EXTRAS
from tests.criteria_model import CriteriaOracle
from tests.endpoint_server import Answer, EndpointServer, error, hang, text
from tests.oracle import Oracle, Truth


def test_the_core_checks_pass_where_everything_is_installed() -> None:
    """Python, settings, extras and one verified answer."""
    checks = {check.name: check.state for check in core_checks()}

    assert checks == {
        "python": "ok",
        "settings": "ok",
        "layers": "ok",
        "extra [openai]": "ok",
        "extra [collector]": "ok",
        "extra [clustering]": "ok",
        "extra [local]": "ok",
        "extra [hub]": "ok",
        "embedded models": "ok",
        "judge local": "ok",
        "criteria": "ok",
    }


def test_a_wrong_variable_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong, what was expected, what to do."""
    monkeypatch.setenv("RT4CHART_SAMPLE_RATE", "2")

    (check,) = [check for check in core_checks() if check.name == "settings"]

    assert check.state == "failed"
    assert "expected a number from 0 to 1; got '2'" in check.detail
    assert "RT4CHART_SAMPLE_RATE" in check.detail
    assert check.fix == "change or unset that variable"


def test_the_layers_are_listed_with_the_rates_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """All six, those of routes too, and what a word for a rate means."""
    monkeypatch.setenv("RT4CHART_SAMPLE_RATE", "0.1")
    monkeypatch.setenv("RT4CHART_LAYERS", "sycophancy=0.5; support/*: cherry_picking=1")

    (check,) = [check for check in core_checks() if check.name == "layers"]

    assert check.detail == (
        "judge=0.1, citations=1, cherry_picking=auto, sycophancy=0.5, trail=auto, "
        "earlier_turns=0, "
        "second_judge=borderline; support/*: cherry_picking=1 (borderline: a confidence below 0.7; "
        "auto: 1; with a remote judge 0.2, and 0 for trail)"
    )


def test_a_missing_extra_comes_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Missing is not failed: an application needs no database client."""
    monkeypatch.setitem(EXTRAS, "clustering", ("no_such_module",))

    (check,) = [check for check in core_checks() if check.name == "extra [clustering]"]

    assert check == Check(
        "extra [clustering]",
        "missing",
        "no_such_module not installed",
        "pip install 'otel-rt4chart[clustering]'",
    )


def test_a_wrong_dsn_fails_the_doctor_without_showing_the_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The service's checks are run too, and no secret is printed."""
    monkeypatch.setenv("RT4CHART_DSN", "postgres://me:s3cret@host/db")

    status = main(["doctor", "--json"])

    out = capsys.readouterr().out
    assert status == 1
    assert "s3cret" not in out
    (failed,) = [check for check in json.loads(out) if check["state"] == "failed"]
    assert "chdb:///absolute/path" in failed["detail"]


def test_a_locked_or_fresh_database_is_told_apart_from_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], store_dsn: str
) -> None:
    """The database that this process may open answers with its version."""
    monkeypatch.setenv("RT4CHART_DSN", store_dsn)
    monkeypatch.setenv("RT4CHART_OTLP_HTTP", "127.0.0.1:0")

    assert main(["doctor"]) == 0
    assert "ClickHouse" in capsys.readouterr().out
    assert Path(store_dsn.removeprefix("chdb://")).exists()


def test_an_unknown_judge_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the service's setting names it."""
    check = endpoint_check("foo")
    monkeypatch.setenv("RT4CHART_JUDGE", "foo")

    assert check.state == "failed"
    known = "cascade, local, openai, rules, single"
    assert f"unknown judge 'foo': expected one of {known}" in check.detail
    assert main(["doctor"]) == 1


@pytest.mark.parametrize(
    ("url", "is_noted"),
    [
        ("http://models.internal:8000/v1", True),
        ("HTTP://10.0.0.7/v1", True),
        ("https://models.internal/v1", False),
        ("http://localhost:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        ("", False),
    ],
)
def test_an_endpoint_without_tls_on_another_machine_is_noted(url: str, is_noted: bool) -> None:
    """The key and the texts go over the network as they are."""
    assert plain_http_note(url) == (
        "; OPENAI_BASE_URL is http: the key and all texts can be read on the network"
        if is_noted
        else ""
    )


@pytest.mark.parametrize("name", ["openai", "cascade", "single"])
def test_a_judge_behind_an_endpoint_is_tried_with_one_call(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds a wrong number in one sentence."""
    claim = "The free trial lasts 30 days."
    oracle = Oracle({claim: Truth("contradicted", ("14 days",), "30 days", "14 days")})
    with EndpointServer(oracle) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RT4CHART_JUDGE_MODEL", "mine")
        check = endpoint_check(name)

    assert check == Check(
        f"judge {name}", "ok", "mine answered: a wrong number is called contradicted"
    )
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (error(401, "no"), "401: the key was refused"),
        (error(404, "no such model"), "404: "),
        (Answer(None), "cannot be reached, or broke off"),
        (text("Sure!"), "the model's reply was not usable"),
    ],
)
def test_an_endpoint_that_fails_fails_the_doctor(
    answer: Answer, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came is told; only a reply that cannot be read is asked for again."""
    with EndpointServer([answer]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        check = endpoint_check("openai")

    assert check.state == "failed"
    assert len(server.seen) == (2 if "usable" in told else 1)
    assert told in check.detail
    assert "OPENAI_BASE_URL" in check.fix


def test_a_slow_endpoint_has_the_time_that_the_judge_would_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The setting, and no limit of the doctor's own; who is too slow is told what may help."""
    monkeypatch.setenv("RT4CHART_JUDGE_TIMEOUT_S", "0.2")
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with EndpointServer([hang(30.0)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        check = endpoint_check("openai")

    assert check.state == "failed"
    assert "no reply within 0.2 s: the model is slow or busy; raise RT4CHART_" in check.detail


def test_a_doubtful_variable_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no failure: it may be somebody else's."""
    monkeypatch.setenv("RT4CHART_JUDGE_MODLE", "mine")

    (check,) = [check for check in core_checks() if check.fix == "rename or unset that variable"]

    assert check.state == "missing"
    assert "is RT4CHART_JUDGE_MODEL meant?" in check.detail


def criteria_file(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, these are the criteria."""
    file = folder / "criteria.toml"
    file.write_text(text)
    monkeypatch.setenv("RT4CHART_CRITERIA", str(file))


def test_criteria_are_named_and_their_endpoint_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one short call, and none where no criterion needs a model."""
    criteria_file(tmp_path, '[[criteria]]\nname = "cites"\nkind = "must_cite"', monkeypatch)
    rules = criteria_check()
    criteria_file(tmp_path, '[[criteria]]\nname = "Completeness"', monkeypatch)
    with EndpointServer(CriteriaOracle()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        judged = criteria_check()
        calls = len(server.chats)

    assert (rules.state, rules.detail) == ("ok", "cites (must_cite); none needs an endpoint")
    assert (judged.state, calls) == ("ok", 1)
    assert judged.detail == "Completeness (judged); gpt-4o-mini judges: a sample is called pass"


@pytest.mark.parametrize("script", [error(500, "down"), text("what?")])
def test_an_endpoint_that_judges_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Answer
) -> None:
    """With the reason; so is one that is not there."""
    criteria_file(tmp_path, '[[criteria]]\nname = "Completeness"', monkeypatch)
    with EndpointServer([script]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        failed = criteria_check()
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    missing = criteria_check()

    assert failed.state == missing.state == "failed"
    assert failed.detail.startswith("Completeness (judged): ")
    assert "Completeness is judged by a model: expected an endpoint" in missing.detail


def test_a_wrong_file_of_criteria_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, with what to do."""
    criteria_file(tmp_path, '[[criteria]]\nname = "cites"', monkeypatch)

    check = criteria_check()

    assert check.state == "failed"
    assert "kind to be one of" in check.detail
    assert "docs/operate/criteria.md" in check.fix
