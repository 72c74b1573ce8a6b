"""New answers to an eval set's questions, from a file or from the application."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.json_rows import parse_row, read_lines
from rt4chart_clustering.evalset.case import EvalCase

OUTPUT_TAIL = 400
# Of all answers together; a program that writes without end is stopped there.
MAX_OUTPUT_BYTES = 256 * 1024 * 1024
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer to a case; `contexts` are its passages if the application retrieved new ones."""

    text: str
    contexts: list[Any] | None = None


def read_answers(path: Path, cases: Sequence[EvalCase]) -> Mapping[str, NewAnswer]:
    """The answers in rows `{"id", "answer", "contexts"?}`, with the ids of the cases."""
    try:
        with path.open("rb") as lines:
            return parse_answers(read_lines(lines), cases, str(path))
    except OSError as error:
        raise InputError(f"expected a file of JSON lines with answers: {error}") from error


def run_command(
    command: str, cases: Sequence[EvalCase], *, timeout_s: float
) -> Mapping[str, NewAnswer]:
    """Run the application: one case a line in, one row `{"id", "answer", "contexts"?}` a line out.

    It gets `{"id", "question", "contexts"}` on standard input, and its standard error is shown.
    InputError if it cannot start, fails, or takes longer than `timeout_s`.
    """
    asked = "".join(json.dumps(_question(case)) + "\n" for case in cases).encode()
    try:
        status, output = _run(shlex.split(command), asked, timeout_s)
    except (OSError, ValueError, IndexError) as error:
        raise InputError(f"--command: expected a program that starts, got {error}") from error
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"--command: expected its answers within {timeout_s:g} s, got none in time; "
            "increase --command-timeout"
        ) from error
    if status:
        raise InputError(
            f"--command: expected exit status 0, got {status}; the end of its output: "
            f"{printable(output[-4 * OUTPUT_TAIL :].decode(errors='replace')[-OUTPUT_TAIL:])!r}"
        )
    return parse_answers(output.splitlines(), cases, "--command")


def _run(command: Sequence[str], asked: bytes, timeout_s: float) -> tuple[int, bytes]:
    """The exit status and the output; the program's children end with it."""
    deadline = Deadline(timeout_s)
    with tempfile.TemporaryFile() as questions:
        questions.write(asked)
        questions.seek(0)
        process = subprocess.Popen(  # noqa: S603 - the command is the user's own
            command, stdin=questions, stdout=subprocess.PIPE, start_new_session=True
        )
    try:
        output = _read_output(process, deadline)
        return process.wait(max(deadline.remaining, POLL_S)), output
    except subprocess.TimeoutExpired:
        raise subprocess.TimeoutExpired(command, timeout_s) from None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _read_output(process: subprocess.Popen[bytes], deadline: Deadline) -> bytes:
    """What the program writes until it ends: a child of it may keep the pipe open for longer."""
    pipe, output = process.stdout, bytearray()
    if pipe is None:
        return b""
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while not deadline.is_over:
            # Asked before reading: all that a program wrote before its end is in the pipe.
            is_over = process.poll() is not None
            if ready.select(0 if is_over else min(POLL_S, deadline.remaining)):
                chunk = os.read(pipe.fileno(), 65_536)
                output += chunk
                if len(output) > MAX_OUTPUT_BYTES:
                    most = MAX_OUTPUT_BYTES // 1024 // 1024
                    raise InputError(f"--command: expected at most {most} MiB of answers, got more")
                if chunk:
                    continue
                return bytes(output)
            if is_over:
                return bytes(output)
    raise subprocess.TimeoutExpired(process.args, 0)


def parse_answers(
    lines: Iterable[bytes], cases: Sequence[EvalCase], where: str
) -> Mapping[str, NewAnswer]:
    """The answers by case id; InputError for an unknown id or a second answer to a case."""
    known, found = {case.id for case in cases}, dict[str, NewAnswer]()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            name, answer = _answer(parse_row(line))
            if name not in known:
                raise InputError(f'expected "id" to be that of a case, got {name!r}')
            if name in found:
                raise InputError(f"expected one answer to a case, got a second one to {name!r}")
        except InputError as error:
            raise InputError(f"{where}, line {number}: {error}") from error
        found[name] = answer
    return found


def _question(case: EvalCase) -> dict[str, Any]:
    passages = [{"id": one.id, "text": one.text} for one in case.exchange.passages]
    return {"id": case.id, "question": case.exchange.question, "contexts": passages}


def _answer(row: Mapping[str, Any]) -> tuple[str, NewAnswer]:
    text, contexts = row.get("answer"), row.get("contexts")
    if not isinstance(text, str) or not text.strip():
        raise InputError('expected "answer" to hold text')
    if contexts is not None and not (isinstance(contexts, list) and contexts):
        raise InputError('expected "contexts" to be a list of passages, or not to be there')
    return str(row.get("id")), NewAnswer(text, contexts)
