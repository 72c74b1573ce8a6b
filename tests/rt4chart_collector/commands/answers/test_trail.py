"""`rt4chart trail` prints the way of each failed claim, and marks the step where it entered."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.commands.answers.trail import traced_answers, trail_lines
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.chain_app import ANSWER, run
from tests.rt4chart_collector.traced import WRONG_ANSWER, WRONG_SUMMARY, research, verify


def lines(client: Client, trace_id: str) -> list[str]:
    """What is printed of a trace, without the head."""
    return list(trail_lines(traced_answers(client, trace_id)))[1:]


def test_way_of_a_claim_ends_at_its_sources(client: Client) -> None:
    """The guilty step is marked; the sources are named with their ids."""
    answer = research(client)

    assert lines(client, answer.trace_id) == [
        "",
        "claim 0, contradicted: Orders can be returned within 60 days of delivery.",
        "  answer",
        "  └ summarise: says it   ✗ entered here",
        "      “Orders can be returned within 60 days of delivery.”",
        "    └ search kb-1, search kb-2: contradicts it",
        "        “Orders can be returned within 30 days of delivery.”",
        "  the step had read what contradicts it",
    ]


def test_the_answer_itself_may_be_marked(client: Client) -> None:
    """What it has read says something else; a dropped passage is quoted."""
    made = replace(WRONG_ANSWER, answer=f"{ANSWER} Our stores are closed on public holidays.")
    answer = research(client, made)

    assert lines(client, answer.trace_id)[1:] == [
        "claim 2, baseless: Our stores are closed on public holidays.",
        "  answer   ✗ entered here",
        "  └ summarise: does not say it",
        "  the reranker left out a passage that decides it",
        "    kb-3: “Our stores in Lyon and Turin are closed on public holidays.”",
    ]


def test_a_misleading_claim_names_the_step_that_left_out_its_limit(client: Client) -> None:
    """The claim entered nowhere: it is true as far as it goes."""
    answer = research(client, replace(WRONG_ANSWER, answer="Refunds are paid."))

    assert lines(client, answer.trace_id)[1:] == [
        "claim 0, misleading: Refunds are paid.",
        "  answer   ✗ left out here",
        "  the step had read what limits it, and left that out",
        "    kb-2: “Refunds are paid to the original payment method within 5 working days.”",
    ]


def test_why_nothing_is_known_is_said(client: Client) -> None:
    """Of a chain that could not be read, and of an answer without failed claims."""
    spans = [
        replace(span, dropped_attributes=3) if span.name == "summarise" else span
        for span in run(WRONG_ANSWER)
    ]
    cut, right = verify(client, spans), research(client, replace(WRONG_ANSWER, answer=ANSWER))

    assert lines(client, cut.trace_id)[-1] == (
        "  not known in which step: The text of the step “summarise” was cut."
    )
    assert lines(client, right.trace_id) == ["  nothing to trace"]


def test_hostile_names_do_not_reach_the_terminal(client: Client) -> None:
    """Control characters of a span's name are not printed."""
    names = ("search", "rerank", "\x1b[31mred\n\u202edrow", "answer")
    answer = research(client, replace(WRONG_SUMMARY, names=names))

    printed = lines(client, answer.trace_id)
    assert all(line.isprintable() for line in printed)
    assert any("✗ entered here" in line for line in printed)


def test_command_prints_json(client: Client, dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One object for each verdict on an answer of the trace."""
    answer = research(client)

    assert main(["trail", answer.trace_id, "--dsn", dsn, "--json"]) == 0

    (found,) = json.loads(capsys.readouterr().out)["answers"]
    (trail,) = found["trails"]
    assert (found["route"], trail["stage"], trail["claim"]) == ("research", "summarise", 0)
    assert trail["text"] == "Orders can be returned within 60 days of delivery."


def test_unknown_trace_is_an_error(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what was expected."""
    assert main(["trail", "f" * 32, "--dsn", dsn]) != 0
    assert "expected the id of a trace with a verified answer" in capsys.readouterr().err
