from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.console.tries.trials import (
    MODULE,
    TrialError,
    TrialRequest,
    Trials,
    split_passages,
)

ASKED = TrialRequest("rules", "", "The trial lasts 30 days.", ("The trial lasts 14 days.",), "")


def processes() -> dict[int, int]:
    """The processes that check an answer for this one, with their nice values."""
    found: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if MODULE.encode() in command and parent == os.getpid():
                found[int(folder.name)] = os.getpriority(os.PRIO_PROCESS, int(folder.name))
        except OSError:  # it ended meanwhile
            continue
    return found


def seen_while(call: Callable[[], object]) -> list[int]:
    """The nice values of these processes while the call ran."""
    seen: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            seen.extend(processes().values())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        call()
    finally:
        done.set()
        thread.join()
    return seen


def test_a_trial_yields_to_the_service_and_leaves_no_process() -> None:
    """It has the lowest priority, and ends with its verdict."""
    seen = seen_while(lambda: asyncio.run(Trials().run(ASKED)))

    assert seen[-1] == 19
    assert processes() == {}


def test_a_trial_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge whose endpoint does not answer ends with its time; the next one has its place."""
    trials = Trials(seconds=4)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        asked = TrialRequest("openai", "", ASKED.answer, ASKED.passages, "")
        began = time.monotonic()
        with pytest.raises(TrialError, match="took longer than 4 seconds") as refused:
            asyncio.run(trials.run(asked))
        took = time.monotonic() - began

    assert refused.value.status == 503
    assert took < 20
    assert processes() == {}
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert asyncio.run(Trials().run(ASKED)).claims[0].label is Label.CONTRADICTED


def test_a_judge_that_cannot_be_built_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, with its name."""
    monkeypatch.setenv("RT4CHART_JUDGE_VOTES", "two")

    with pytest.raises(TrialError) as refused:
        asyncio.run(Trials().run(ASKED))

    assert refused.value.status == 502
    told = str(refused.value)
    assert re.fullmatch(r"The judge rules gave no verdict: RT4CHART_JUDGE_VOTES: .*", told)


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ("one", ("one",)),
        ("one\n---\ntwo\n\nof two\n----\n", ("one", "two\n\nof two")),
        (" --- \n\n---", ()),
        ("a --- b\n- list\n--", ("a --- b\n- list\n--",)),
    ],
)
def test_lines_of_dashes_separate_passages(text: str, passages: tuple[str, ...]) -> None:
    """Dashes in a line of text, and fewer than three, do not."""
    assert split_passages(text) == passages
