"""Tokens by purpose: files that change, several at once, and what a file may hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.environment import check_retired
from rt4chart_collector.core.settings import ConsoleSettings, ServiceSettings, UpSettings
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import (
    GRACE_S,
    MAX_TOKENS,
    Purpose,
    TokenSource,
    is_generated,
    token_digest,
    token_sources,
)


class SetClock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        """The time that was set."""
        return self.now


def valid(source: TokenSource, *tokens: str) -> list[bool]:
    """Which of these tokens the source has now."""
    return [token_digest(token) in source.tenants() for token in tokens]


def written(path: Path, text: str) -> str:
    """Another file in its place, as an operator or Kubernetes writes one."""
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.replace(path)
    return str(path)


def test_tokens_change_while_the_process_runs(tmp_path: Path) -> None:
    """Old and new are valid together, then the new one alone; blank lines do not count."""
    path = tmp_path / "tokens"
    source = TokenSource(Purpose.INGEST, file=written(path, "old\n"))
    found = [valid(source, "old", "new")]
    written(path, "\nold\nnew\n\n")
    found.append(valid(source, "old", "new"))
    written(path, "new")
    found.append(valid(source, "old", "new"))

    assert found == [[True, False], [True, True], [False, True]]


def test_file_that_is_written_in_place_is_read_again(tmp_path: Path) -> None:
    """Also where its size and the tick of its clock are the same."""
    path = tmp_path / "tokens"
    path.write_text("aaa")
    source = TokenSource(Purpose.INGEST, file=str(path))
    before = os.stat(path).st_mtime_ns
    path.write_text("bbb")
    os.utime(path, ns=(before, before))

    assert valid(source, "aaa", "bbb") == [False, True]


def test_exchanged_link_is_followed(tmp_path: Path) -> None:
    """Kubernetes points `..data` elsewhere; the file's own path stays as it is."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(name)
        os.utime(tmp_path / name / "token", (1, 1))
    (tmp_path / "..data").symlink_to("one")
    (tmp_path / "token").symlink_to("..data/token")
    source = TokenSource(Purpose.READ, file=str(tmp_path / "token"))
    before = valid(source, "one", "two")
    (tmp_path / "..new").symlink_to("two")
    (tmp_path / "..new").replace(tmp_path / "..data")

    assert (before, valid(source, "one", "two")) == ([True, False], [False, True])


@pytest.mark.parametrize("text", [None, "", "tökén", "one two"])
def test_file_that_is_away_opens_nothing_after_a_minute(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str | None
) -> None:
    """A moment without it locks nobody out; the log says once what is wrong, without its text."""
    path, clock = tmp_path / "tokens", SetClock()
    source = TokenSource(Purpose.INGEST, file=written(path, "good"), clock=clock)
    if text is None:
        path.unlink()
    else:
        written(path, text)
    found = [valid(source, "good")]
    clock.now += GRACE_S
    found.append(valid(source, "good"))
    written(path, "good")
    found.append(valid(source, "good"))

    assert found == [[True], [False], [True]]
    assert source.is_set
    (line,) = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert "RT4CHART_INGEST_TOKEN_FILE: expected 1 to 256 tokens" in line
    assert text is None or text == "" or text not in line


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "0 tokens in 0 bytes"),
        ("a\n" * (MAX_TOKENS + 1), "257 tokens in 514 bytes"),
        ("s3cret two", "another text as token 1"),
        ("tenant=s3cret one two", "another text as token 1"),
        ("tenant=s3cret", "another text as token 1"),
        ("tenant=s3cr/t one", "a letter or digit first as the tenant of token 1"),
        ("tenant=a s3cret\ntenant=b s3cret", "token 2 once more, with another tenant"),
        ("s3cret\ntenant=b s3cret", "token 2 once more, with another tenant"),
        ("s3crét", "other characters"),
        ("x" * 70_000, "1 tokens in 65537 bytes"),
    ],
)
def test_file_that_cannot_be_used_stops_the_start(tmp_path: Path, text: str, got: str) -> None:
    """The error names the variable and the file, and quotes nothing of what it holds."""
    path = tmp_path / "tokens"
    path.write_text(text)
    environ = {"RT4CHART_READ_TOKEN_FILE": str(path)}

    with pytest.raises(SettingsError, match="RT4CHART_READ_TOKEN_FILE: expected") as raised:
        token_sources(load(ServiceSettings, environ=environ))

    assert str(raised.value).endswith(got)
    assert "s3cr" not in str(raised.value)


@pytest.mark.parametrize("purpose", list(Purpose))
@pytest.mark.parametrize("blank", [" ", "\n"])
def test_a_blank_token_stops_the_start(purpose: Purpose, blank: str) -> None:
    """It does not count as none, which would open that door."""
    cls = ServiceSettings if purpose in (Purpose.INGEST, Purpose.READ) else ConsoleSettings
    expected = "expected visible ASCII characters without spaces; got only white space"

    with pytest.raises(SettingsError, match=f"{purpose.variable}: {expected}"):
        load(cls, environ={purpose.variable: blank})


def test_token_has_one_place_and_one_purpose(tmp_path: Path) -> None:
    """Neither a variable and a file, nor the same secret for two purposes, nor the old variable."""
    path = written(tmp_path / "tokens", "same\nother")
    both = {"RT4CHART_INGEST_TOKEN": "a", "RT4CHART_INGEST_TOKEN_FILE": path}
    with pytest.raises(SettingsError, match=r"INGEST_TOKEN_FILE: expected one of them; got both"):
        load(ServiceSettings, environ=both)
    twice = {"RT4CHART_CONSOLE_TOKEN": "same", "RT4CHART_ADMIN_TOKEN_FILE": path}
    with pytest.raises(SettingsError, match="ADMIN_TOKEN and RT4CHART_CONSOLE_TOKEN: expected dif"):
        TokenGuard([token_sources(load(ConsoleSettings, environ=twice))])
    with pytest.raises(SettingsError, match="RT4CHART_INGEST_TOKEN: expected a token too"):
        load(UpSettings, environ={"RT4CHART_READ_TOKEN": "r"})
    with pytest.raises(SettingsError, match=r"RT4CHART_TOKEN: .*INGEST_TOKEN.*READ_TOKEN") as gone:
        check_retired({"RT4CHART_TOKEN": "s3cret"})
    with pytest.raises(SettingsError, match="INGEST_TOKEN"):
        check_retired({"RT4CHART_TOKEN": " "})
    assert "s3cret" not in str(gone.value)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("b6c0f3a91d2e47588f6a0b1c2d3e4f50", True),
        ("8F14E45F-CEEA-467F-AB3C-2D9B6C1A7E10", True),
        ("q9ZrXw3Lk0TtYb7Nn2Vv5Mm8Pp1Qq4Ss", True),
        ("b6c0f3a91d2e47588f6a0b1c2d3e4f5", False),
        ("12345678901234567890123456789012345678", False),
        ("deadbeefdeadbeefdeadbeefdeadbeef", False),
        ("correct-horse-battery-staple-correct-horse", False),
        ("ChangeMeChangeMeChangeMeChangeMe1", False),
        ("", False),
    ],
)
def test_only_what_chance_draws_looks_generated(token: str, expected: bool) -> None:
    """A long phrase of words, a number, or a repetition does not."""
    assert is_generated(token) is expected


def test_a_pipe_is_no_file_of_tokens_and_a_link_is(tmp_path: Path) -> None:
    """Opening a pipe would wait for its writer without a word."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(written(tmp_path / "tokens", "one"))

    with pytest.raises(SettingsError, match=r"INGEST_TOKEN_FILE: .*: no regular file"):
        TokenSource(Purpose.INGEST, file=str(pipe))
    with pytest.raises(SettingsError, match="no regular file"):
        TokenSource(Purpose.INGEST, file=str(tmp_path))
    assert TokenSource(Purpose.INGEST, file=str(link)).is_set
