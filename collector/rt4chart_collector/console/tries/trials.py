"""Verifies pasted answers: few at once, each in a process of its own with a time limit."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from threading import BoundedSemaphore

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.model import Exchange, Passage, Report

MODULE = "rt4chart_collector.console.tries.trial_process"
# A judge behind an endpoint needs seconds, the judges in the process about two to start.
TRIAL_S = 30
MAX_TRIALS = 1
QUESTION_CHARS, ANSWER_CHARS, PASSAGES_CHARS = 2_000, 8_000, 30_000
MAX_PASSAGES = 50
SEPARATOR = "---"
_ERROR_CHARS = 300


class TrialError(RT4ChartError):
    """Why a pasted answer was not verified, with what to do; `status` is the HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        """`message` is one sentence for people."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """An answer that somebody pasted, and the name of the judge to ask."""

    judge: str
    question: str
    answer: str
    passages: tuple[str, ...]
    as_of: str

    def __post_init__(self) -> None:
        """TrialError for texts that are missing or too long."""
        if not self.answer.strip():
            raise TrialError("The answer is empty: paste the answer to check.", 400)
        if not self.passages:
            raise TrialError("There is no passage: paste what the answer was given from.", 400)
        if len(self.passages) > MAX_PASSAGES:
            raise TrialError(
                f"There are {len(self.passages)} passages, and the limit is {MAX_PASSAGES}: leave "
                "some out, or use rt4chart check.",
                400,
            )
        for what, length, limit in (
            ("question has", len(self.question), QUESTION_CHARS),
            ("answer has", len(self.answer), ANSWER_CHARS),
            ("passages have", sum(map(len, self.passages)), PASSAGES_CHARS),
        ):
            if length > limit:
                raise TrialError(
                    f"The {what} {length:,} characters, and the limit is {limit:,}: shorten the "
                    "text, or use rt4chart check.",
                    413,
                )

    @property
    def exchange(self) -> Exchange:
        """The exchange that is verified."""
        passages = [Passage(f"p{place}", text) for place, text in enumerate(self.passages, 1)]
        return Exchange(self.question, passages, self.answer, self.as_of)


def split_passages(text: str) -> tuple[str, ...]:
    """The passages of a text, which lines of three dashes or more separate; empty ones are none."""
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        is_separator = line.strip().startswith(SEPARATOR) and not line.strip().strip("-")
        if is_separator:
            found.append([])
        else:
            found[-1].append(line)
    joined = ("\n".join(lines).strip() for lines in found)
    return tuple(passage for passage in joined if passage)


class Trials:
    """The trials of one console: `MAX_TRIALS` at once, further ones are refused at once."""

    def __init__(self, seconds: int = TRIAL_S, most: int = MAX_TRIALS) -> None:
        """`seconds` is the time limit of a trial."""
        self._seconds = seconds
        self._free = BoundedSemaphore(most)

    async def run(self, request: TrialRequest) -> Report:
        """The verdict; TrialError if none came, or if others are being checked."""
        with self._place():
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._verify(request)
            except TimeoutError:
                raise TrialError(
                    f"Checking took longer than {self._seconds} seconds and was stopped: shorten "
                    "the texts, choose another judge, or use rt4chart check, which has no such "
                    "limit.",
                    503,
                ) from None

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._free.acquire(blocking=False):
            raise TrialError("Another answer is being checked: try again in some seconds.", 503)
        try:
            yield
        finally:
            self._free.release()

    async def _verify(self, request: TrialRequest) -> Report:
        # -P: a module in the working directory must not take the place of one of ours.
        command = (sys.executable, "-P", "-m", MODULE, str(self._seconds))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        try:
            written = json.dumps(asdict(request)).encode()
            out, err = await process.communicate(written)
        finally:
            await _end(process)
        if process.returncode != 0:
            lines = err.decode("utf-8", "replace").strip().splitlines()
            told = one_line(lines[-1], _ERROR_CHARS) if lines else "its process ended"
            raise TrialError(f"The judge {request.judge} gave no verdict: {told}", 502)
        report = pickle.loads(out)  # noqa: S301 - written by our own process
        if not isinstance(report, Report):
            raise TypeError(f"expected a report, got {type(report).__name__}")
        return report


async def _end(process: Process) -> None:
    """Stop a process that still runs, also if the request was cancelled."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
