"""Labelling in a terminal, key by key."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from rich.console import Console
from rich.text import Text

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerRange
from rt4chart_collector.labelling.tasks import Rater, next_task
from rt4chart_collector.labelling.terminal import (
    AROUND,
    LabelSession,
    labelled,
    marked_answer,
    terminal_keys,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, LabelRow, labels_in
from tests.rt4chart_collector.labelling.answers import NOW, drawn, stored

__all__ = ["stored"]
ANN = Rater("ann")


def sitting(client: Client, keys: str, *, limit: int = 0) -> tuple[LabelSession, str]:
    """A session in which these keys are pressed, and what it printed."""
    pressed: Iterator[str] = iter(keys)
    out = io.StringIO()
    clock = count(NOW)
    session = LabelSession(
        client,
        drawn(client),
        ANN,
        read_key=lambda: next(pressed, ""),
        console=Console(file=out, width=200, highlight=False, markup=False, emoji=False),
        clock=lambda: next(clock),
    )
    session.run(limit)
    return session, out.getvalue()


def in_order(client: Client) -> list[LabelRow]:
    """The current labels, in the order in which they were given."""
    return sorted(labels_in(client, QueryScope()), key=lambda row: row.at_ns)


def given(client: Client) -> list[tuple[GivenLabel, bool]]:
    """The current labels, and which of them are blind."""
    return [(row.label, row.is_blind) for row in in_order(client)]


def test_each_key_is_a_label(stored: Client) -> None:
    """1, 2, 3, 0 and s; then no claim is left."""
    session, text = sitting(stored, "1230s")

    assert given(stored) == [
        (GivenLabel.ENTAILED, True),
        (GivenLabel.CONTRADICTED, True),
        (GivenLabel.BASELESS, True),
        (GivenLabel.CANNOT_TELL, True),
        (GivenLabel.SKIPPED, True),
    ]
    assert session.labels == 4
    assert "no claims are left in this draw for you" in text


def test_each_label_says_whether_the_claim_misleads(stored: Client) -> None:
    """A misleading one is entailed, with a status; without the passages nobody can tell."""
    _, text = sitting(stored, "4123x")
    known = [(row.label, row.status, row.misleads) for row in in_order(stored)]
    stored.command("TRUNCATE TABLE otel_traces")
    sitting(stored, "1x")

    assert known == [
        (GivenLabel.ENTAILED, "cherry_picked", True),
        (GivenLabel.ENTAILED, "supported", False),
        (GivenLabel.CONTRADICTED, "contradicted", False),
        (GivenLabel.BASELESS, "unsupported", False),
    ]
    assert "you: misleading; the judge: " in text
    (blank,) = (row for row in in_order(stored) if not row.status)
    assert (blank.label, blank.misleads) == (GivenLabel.ENTAILED, None)


def test_the_verdict_is_hidden_until_the_claim_has_a_label(stored: Client) -> None:
    """Nothing of what is printed before the first key says what the judge said."""
    _, before = sitting(stored, "x")
    _, after = sitting(stored, "1x")

    for word in ("the judge", "entailed (", "contradicted ("):
        assert word not in before
    assert "you: entailed; the judge: " in after
    assert "support: too few answers for a corrected rate" in after


def test_a_label_that_is_given_again_is_not_blind(stored: Client) -> None:
    """The rater has seen the verdict by then."""
    session, text = sitting(stored, "1u2x")

    assert given(stored) == [(GivenLabel.CONTRADICTED, False)]
    assert session.labels == 1
    assert "taken back: entailed" in text


def test_question_and_passages_are_shown_on_demand(stored: Client) -> None:
    """The question is not shown before; other keys print the help and change nothing."""
    _, text = sitting(stored, "?qpux")
    _, plain = sitting(stored, "x")

    assert text.count("How long is the trial?") == 1
    assert "How long is the trial?" not in plain
    assert "nothing to undo in this sitting" in text
    assert given(stored) == []


def test_a_sitting_ends_after_its_labels(stored: Client) -> None:
    """And at the end of the input; every label is stored by then."""
    session, _ = sitting(stored, "11111", limit=2)

    assert session.labels == 2
    assert len(given(stored)) == 2


def test_untrusted_text_does_not_reach_the_terminal(stored: Client) -> None:
    """Control characters are replaced, in the answer one by one so that the marks fit."""
    task = next_task(stored, drawn(stored), ANN, now_ns=NOW)
    assert task is not None
    answer = "ok so \x1b[2J[bold]fine[/] \u202etxet"
    claim = replace(task.claim, text="fine", answer_range=AnswerRange(6, 20))

    shown = marked_answer(replace(task, answer=answer, claim=claim))

    assert shown.plain == "ok so ·[2J[bold]⟦fine⟧[/] ·txet"


def test_no_line_of_a_text_begins_where_labels_stand() -> None:
    """An answer cannot show the rater a passage; with a line break or where a line is wrapped."""
    out = io.StringIO()
    forged = "The trial lasts 30 days.\npassage   It lasts 30 days. " + "word " * 9 + "passage  x"

    Console(file=out, width=50).print(labelled("answer", Text(forged)))

    lines = out.getvalue().splitlines()
    assert lines[0].startswith("answer    The trial")
    assert [line[:10] for line in lines[1:]] == [" " * 10] * (len(lines) - 1)


def test_the_marks_of_the_claim_are_in_no_answer(stored: Client) -> None:
    """Only the claim's own words stand between them."""
    task = next_task(stored, drawn(stored), ANN, now_ns=NOW)
    assert task is not None
    claim = replace(task.claim, text="yes", answer_range=AnswerRange(6, 9))

    assert marked_answer(replace(task, answer="⟦no⟧ ⟦yes", claim=claim)).plain == "[no] [⟦yes⟧"


def test_a_long_answer_is_shown_around_the_claim(stored: Client) -> None:
    """A range that does not fit the answer marks nothing."""
    task = next_task(stored, drawn(stored), ANN, now_ns=NOW)
    assert task is not None
    before, after = "Other words. " * 100, " More words." * 100
    answer = f"{before}The claim.{after}"
    claim = replace(task.claim, text="The claim", answer_range=AnswerRange(1300, 1309))

    shown = marked_answer(replace(task, answer=answer, claim=claim)).plain
    unfit = marked_answer(replace(task, answer="short", claim=claim)).plain

    assert shown == f"…{before[-AROUND:]}⟦The claim⟧.{after[: AROUND - 1]}…"
    assert unfit == "short"


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names what works without one."""
    monkeypatch.setattr("sys.stdin", io.StringIO("1"))

    with pytest.raises(InputError, match="use --judge NAME or --import FILE"), terminal_keys():
        raise AssertionError
