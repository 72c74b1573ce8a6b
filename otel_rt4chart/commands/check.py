"""`rt4chart check`: verifies one answer from the command line and shows its words marked."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from otel_rt4chart.commands.marked_answer import marked_answer
from otel_rt4chart.commands.terminal_text import this_terminal
from otel_rt4chart.commands.verify import open_file
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.judges.batch import BatchSummary, judge_advice
from otel_rt4chart.judges.build import (
    build_criteria,
    build_verifier,
    check_judge_name,
    settings_for_judge,
    shared_endpoint,
)
from otel_rt4chart.judges.choice import LOCAL, RULES, check_installed, missing_for
from otel_rt4chart.judges.criteria import with_criteria
from otel_rt4chart.settings.application import JudgeSettings, setting_warnings
from otel_rt4chart.settings.criteria_file import chosen_criteria
from otel_rt4chart.verify.core.json_rows import (
    MAX_LINE_BYTES,
    InputRow,
    parse_row,
    read_row,
    report_row,
)
from otel_rt4chart.verify.core.model import Exchange, Passage
from otel_rt4chart.verify.criteria.model import criterion_rows

HOW = """\
rt4chart check --answer "It lasts 30 days." --passage "It lasts 14 days." [--question "How long?"]
rt4chart check --answer @answer.txt --passage @terms.txt --passage @faq.txt   # texts in files
rt4chart check < row.json   # {"answer": …, "contexts": [passage, …]}, a row of `rt4chart verify`
"""


def execute(options: argparse.Namespace) -> int:
    """Verify the answer and print the verdict. The status is 1 if the judge gave none."""
    if not _is_given(options) and sys.stdin.isatty():
        sys.stderr.write(HOW)
        return 2
    row = input_row(options)
    name = check_judge_name(options.judge or LOCAL)
    settings = settings_for_judge(name, options.model)
    check_size(row.exchange, settings)
    notes = [f"warning: {warning}" for warning in setting_warnings()]
    if options.judge:
        check_installed(name, settings)
    elif missing := missing_for(LOCAL, settings):
        notes.append(f"the judge is rules, which finds less than local: {missing}")
        name = RULES
    endpoint = shared_endpoint(settings)
    verifier = build_verifier(name, settings, clock=time.perf_counter_ns, endpoint=endpoint)
    criteria = build_criteria(chosen_criteria(), settings, endpoint)
    report, judged = with_criteria(criteria, row, verifier.verify(row.exchange))
    summary = BatchSummary()
    summary.add(report)
    if options.json or not sys.stdout.isatty():
        told = {"criteria": criterion_rows(judged)} if judged else {}
        lines = [json.dumps(report_row(row, report) | told, ensure_ascii=False)]
    else:
        lines = list(marked_answer(row.exchange, report, this_terminal(), judged))
    text = "".join(f"{line}\n" for line in lines)
    sys.stdout.flush()
    # UTF-8 cannot encode a lone surrogate; it is written as the JSON escape that it came from.
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()
    if summary.is_silent:
        notes.append(f"the judge gave no verdict: {summary.main_reason}\n{judge_advice(name)}")
    sys.stderr.write("".join(f"{note}\n" for note in notes))
    return int(summary.is_silent)


def _is_given(options: argparse.Namespace) -> bool:
    return options.answer is not None or options.passage or options.question is not None


def input_row(options: argparse.Namespace) -> InputRow:
    """The exchange of the options, else of the row on standard input; InputError says what lacks.

    Its date is today where it has none.
    """
    as_of = datetime.now(UTC).isoformat(timespec="seconds")
    if not _is_given(options):
        return read_row(_row_from_stdin(), as_of=as_of)
    if options.answer is None:
        raise InputError('expected --answer TEXT, got none: --answer "…", or --answer @FILE')
    answer = _text(options.answer, "--answer")
    passages = [_text(one, "--passage") for one in options.passage]
    question = _text(options.question or "", "--question")
    if not answer.strip():
        raise InputError("--answer: expected text, got an empty one: give the answer to verify")
    if not any(one.strip() for one in passages):
        raise InputError(
            'expected --passage TEXT, got none: --passage "…", or --passage @FILE, once for each'
        )
    numbered = [Passage(f"p{number}", text) for number, text in enumerate(passages, start=1)]
    return InputRow(Exchange(question, numbered, answer, as_of))


def check_size(exchange: Exchange, settings: JudgeSettings) -> None:
    """InputError for texts beyond the judge's limits, which would be undecided."""
    passages = sum(len(passage.text) for passage in exchange.passages)
    for what, length, limit, variable in (
        ("answer", len(exchange.answer), settings.answer_characters, "ANSWER_CHARACTERS"),
        ("question", len(exchange.question), settings.question_characters, "QUESTION_CHARACTERS"),
        ("passages", passages, settings.passage_characters, "PASSAGE_CHARACTERS"),
    ):
        if limit is not None and length > limit:
            raise InputError(
                f"{what}: expected at most {limit:,} characters, got {length:,}: give the part "
                f"that matters, or raise RT4CHART_JUDGE_{variable}"
            )


def _row_from_stdin() -> Mapping[str, Any]:
    written = sys.stdin.buffer.read(MAX_LINE_BYTES + 1)
    if len(written) > MAX_LINE_BYTES:
        raise InputError(
            f"standard input: expected at most {MAX_LINE_BYTES // 2**20} MiB, got more: give one "
            "answer, or `rt4chart verify FILE` for many"
        )
    if not written.strip():
        raise InputError(
            'expected --answer and --passage, or a row {"answer", "contexts"} on standard input; '
            "got neither: rt4chart check --help"
        )
    return parse_row(written)


def _text(written: str, option: str) -> str:
    """The text of an option, or that of the file which it names."""
    if written.startswith("@@"):
        return written[1:]
    if not written.startswith("@"):
        return written
    with open_file(written[1:], "rb") as file:
        content = file.read(MAX_LINE_BYTES + 1)
    if len(content) > MAX_LINE_BYTES:
        raise InputError(
            f"{option}: expected at most {MAX_LINE_BYTES // 2**20} MiB, got a larger file: give "
            "the part that matters"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{option}: expected UTF-8 in {written[1:]}, byte {error.start} is "
            f"{content[error.start]:#04x}: save the file as UTF-8"
        ) from error
