"""Texts that make a regular expression try every way to split a run of characters.

A pattern holds the interpreter while it is matched: no other thread answers meanwhile.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

import otel_rt4chart
from otel_rt4chart.core.text import quoted_words
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.graph.chain import find_chain
from otel_rt4chart.verify import Exchange, Passage, RulesJudge, Sentence, Verifier
from otel_rt4chart.verify.llm.split_task import HolisticSplitTask, SplitTask
from tests.attacks.scale import scaled
from tests.otel_rt4chart.spans.model.made import KIND, SAID, made

SIZE, CPU_S = scaled((6_000, 0.1), (12_000, 0.3))
SEARCHED, SEARCH_CPU_S = scaled((3_000, 0.02), (12_000, 0.1))
RUNS = (" ", "\n", "!", "{", "_", "a", "a_", "a.", "a ", ", ", "1")
MORE_RUNS = ("\\", '"', "'", "“", "’", "#", "*", "=", "-", "<", "&", "$", "@", "/", "\t", "\n\n")
BEGINNINGS = ("", "A", "a(", "[1]", "1 day")
ENDS = ("x", "!")
# A search tries every place of a text; these are matched at its beginning alone.
NOT_SEARCHED = {
    "otel_rt4chart.spans.exchange.prompt_context.HEADING_MARK",
    "otel_rt4chart.spans.exchange.route.ASYNC_METHOD",
    "otel_rt4chart.spans.graph.stage_name.CLIENT",
    "otel_rt4chart.spans.reading.messages._NOTHING",
    "otel_rt4chart.spans.reading.messages._RESULT",
}
# Unpacked a few kilobytes; before, each took minutes.
RUN_IN_PROMPT, RUN_IN_ANSWER = scaled((200_000, 40_000), (3_000_000, 49_000))


def test_no_pattern_takes_time_with_the_square_of_a_run() -> None:
    """From the beginning of a text: 6,000 characters take a linear one less than a millisecond."""
    texts = [
        beginning + (run * SIZE)[:SIZE] + end
        for beginning, run, end in product(BEGINNINGS, RUNS, ENDS)
    ]
    slow = {name for name, pattern in _patterns() for text in texts if _is_slow(pattern, text)}

    assert slow == set()


def test_no_search_takes_time_with_the_square_of_a_run() -> None:
    """A run of backslashes in a tool's result held the interpreter for minutes."""
    texts = [
        beginning + (run * SEARCHED)[:SEARCHED] + end
        for beginning, run, end in product(("", '"', "a "), RUNS + MORE_RUNS, ENDS)
    ]
    # Those of `verify` see one sentence at a time; runs in these are tried below.
    searched = {name: pattern for name, pattern in _patterns("spans") if name not in NOT_SEARCHED}
    slow = {
        name
        for name, pattern in searched.items()
        if any(_search_is_slow(pattern, t) for t in texts)
    }

    assert slow == set()


def test_patterns_that_are_not_searched_are_matched_alone() -> None:
    """The list above is no excuse: nothing in the module searches with them."""
    for name in NOT_SEARCHED:
        module, _, pattern = name.rpartition(".")
        source = inspect.getsource(importlib.import_module(module))
        used = set(re.findall(rf"\b{pattern}\b\.?(\w*)", source)) - {""}

        assert used <= {"match", "fullmatch"}, name


def _search_is_slow(pattern: re.Pattern[str], text: str) -> bool:
    """True if it is slow twice: the first time may have been another thread's."""
    return all(_search_s(pattern, text) > SEARCH_CPU_S for _ in range(2))


def _search_s(pattern: re.Pattern[str], text: str) -> float:
    began = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - began


def _is_slow(pattern: re.Pattern[str], text: str) -> bool:
    began = time.thread_time()
    pattern.match(text)
    pattern.fullmatch(text)
    return time.thread_time() - began > CPU_S


def _patterns(*packages: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns of the modules that read texts of applications."""
    for package in packages or ("spans", "verify"):
        path = [f"{otel_rt4chart.__path__[0]}/{package}"]
        for module in pkgutil.walk_packages(path, f"otel_rt4chart.{package}."):
            if module.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    yield f"{module.name}.{name}", value


@pytest.mark.parametrize("run", ["{", "!", "\n", " "], ids=["braces", "marks", "lines", "spaces"])
def test_a_prompt_with_a_run_between_its_tags_is_read_at_once(run: str) -> None:
    """A section that holds nothing but such a run and a word is the only passage."""
    section = run * RUN_IN_PROMPT + "x"
    began = time.thread_time()

    prompt = f"<context>{section}</context>"
    (found,) = find_candidates([made(1, 0, {KIND: "LLM", "input.value": prompt, SAID: "It is x."})])

    assert time.thread_time() - began < 5
    assert [one.text for one in found.exchange.passages] == [section.strip()]


def test_a_tool_result_of_backslashes_is_read_at_once() -> None:
    """Its words are sought in what the next step was given; it is followed to the answer."""
    found = "The trial lasts 14 days. " + "\\" * RUN_IN_PROMPT + '"'
    spans = [
        made(1, 0, {KIND: "CHAIN", "input.value": "How long?", "output.value": "14 days."}),
        made(2, 1, {KIND: "TOOL", "output.value": found}),
        made(3, 1, {KIND: "LLM", "input.value": found + " How long?", "output.value": "14 days."}),
    ]
    (candidate,) = find_candidates(spans)
    one_by_one = [replace(span, end_ns=span.start_ns + 5) for span in spans]
    began = time.thread_time()

    chain = find_chain(one_by_one, candidate.span_id)

    assert time.thread_time() - began < 5
    assert found in {node.text for node in chain.nodes}


def test_a_reason_of_opening_marks_is_read_at_once() -> None:
    """Nothing behind the last closing mark is quoted."""
    began = time.thread_time()

    assert quoted_words("“a” and " + "“" * RUN_IN_PROMPT) == ["a"]
    assert time.thread_time() - began < 5


def test_a_reply_of_many_entries_is_refused_at_once() -> None:
    """An endpoint's 4 MiB of entries for one sentence, and for a whole answer."""
    sentence = Sentence(0, 0, 29, "The free trial lasts 14 days.")
    entries = [
        {
            "sentence": 1,
            "claim": " ".join("free" if at >> bit & 1 else "trial" for bit in range(16)),
        }
        for at in range(scaled(20_000, 40_000))
    ]
    reply = json.dumps({"claims": entries})
    began = time.thread_time()

    split = SplitTask("judge", (sentence,)).read(reply, [0])
    whole = HolisticSplitTask("judge", (sentence,)).read(reply, [0])

    assert time.thread_time() - began < 5
    assert (split.found, whole.found) == ({}, {})
    assert [*split.problems, *whole.problems] == [
        f"sentence 1: it has {len(entries)} entries, expected at most 500",
        f"expected at most 2000 claims, got {len(entries)}",
    ]


def test_an_output_of_spaces_is_read_at_once() -> None:
    """It is no output that was written empty, for it ends with a word."""
    text = " " * RUN_IN_PROMPT + "x"
    began = time.thread_time()

    (found,) = find_candidates(
        [made(1, 0, {KIND: "LLM", "input.value": "q", "output.value": text})]
    )

    assert time.thread_time() - began < 5
    assert found.exchange.answer == text


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("The trial\n" + "\n" * RUN_IN_ANSWER + "lasts 14 days.", "The trial lasts 14 days."),
        ("The trial lasts 14 days.", f"The trial lasts 14 days{' ' * RUN_IN_ANSWER}if paid."),
        ("The trial lasts 14 days.\n" + "a_" * (RUN_IN_ANSWER // 2), "The trial lasts 14 days."),
        ("The trial lasts 14 days [1].\n[1]" + " " * RUN_IN_ANSWER, "The trial lasts 14 days."),
        ("The trial lasts " + "1," * 4_000 + " 14 days.", "The trial lasts 14 days if paid."),
        ("2024-01-01T" * 1_000, "2024-01-01T" * 3_000),
        ('{"a":[1,' * 500, '{"a":[1,' * 10_000),
        ("&amp;" * 1_200, "&amp;" * 4_000),
        ("The trial " + "Mr. Smith " * 600 + " lasts.", "A trial " + "Mr. Smith " * 1_200 + "."),
    ],
    ids=[
        *("line breaks", "spaces in a passage", "one long identifier", "an empty source"),
        *("values", "one date", "open brackets", "entities", "one name"),
    ],
)
def test_an_answer_or_a_passage_with_a_run_is_verified_at_once(answer: str, passage: str) -> None:
    """All claims get a label."""
    began = time.thread_time()

    report = Verifier(RulesJudge()).verify(Exchange("How long?", [Passage("p1", passage)], answer))

    assert time.thread_time() - began < 5
    assert report.claims
