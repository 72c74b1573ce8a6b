"""The revised answer as a difference from the answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Edit
from rt4chart_collector.console.answers.revision import RevisedAnswer, RevisedRun, revision

ANSWER = "The plan covers MRI. It is free."


def edit(old: str, new: str, answer: str = ANSWER) -> Edit:
    """The edit of these words."""
    start = answer.index(old)
    return Edit(start, start + len(old), new, 0, "")


def test_only_the_words_that_change_are_struck_and_underlined() -> None:
    """Words that an edit repeats stay as they are, whole."""
    found = revision(ANSWER, [edit("covers MRI", "covers MRI if authorized"), edit("It is", "Is")])

    assert found == RevisedAnswer(
        (
            RevisedRun("The plan covers MRI"),
            RevisedRun(" if authorized", "inserted"),
            RevisedRun(". "),
            RevisedRun("It is", "deleted"),
            RevisedRun("Is", "inserted"),
            RevisedRun(" free."),
        ),
        "The plan covers MRI if authorized. Is free.",
    )


def test_a_dropped_claim_is_struck() -> None:
    """Nothing comes in its place."""
    found = revision(ANSWER, [edit(" It is free.", "")])

    assert found is not None
    assert found.runs == (
        RevisedRun("The plan covers MRI."),
        RevisedRun(" It is free.", "deleted"),
    )


def test_edits_that_do_not_fit_the_answer_are_not_shown() -> None:
    """Overlapping ones, and those of another text; nor is there a revision without an edit."""
    overlapping = [edit("plan covers", "a"), edit("covers MRI", "b")]

    assert revision(ANSWER, overlapping) is None
    assert revision("short", [edit("free", "a")]) is None
    assert revision(ANSWER, []) is None


@given(st.text("ab .", max_size=12), st.text("ab .", max_size=12), st.data())
def test_the_runs_say_what_was_and_what_will_be(answer: str, new: str, data: st.DataObject) -> None:
    """Without the inserted ones they are the answer, without the deleted ones the revised text."""
    start = data.draw(st.integers(0, len(answer)))
    end = data.draw(st.integers(start, len(answer)))

    found = revision(answer, [Edit(start, end, new, 0, "")])

    assert found is not None
    assert "".join(run.text for run in found.runs if run.change != "inserted") == answer
    assert "".join(run.text for run in found.runs if run.change != "deleted") == found.text
    assert found.text == answer[:start] + new + answer[end:]
