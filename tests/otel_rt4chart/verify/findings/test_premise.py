"""Which questions ask to have confirmed what they say, and what a message states."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.findings.premise import asks_to_confirm, premise_of, statements_in


@pytest.mark.parametrize(
    "question",
    [
        "Is it true that the policy covers MRI?",
        "So I can return it after 60 days, right?",
        "So I can return it after 60 days?",
        "The plan is free, correct?",
        "The policy covers MRI, doesn't it?",
        "It isn't free, is it?",
        "The trial is not free, is it?",
        "Isn't the trial free?",
        "Doesn’t it cover outpatients?",
        "Can you confirm that the fee is 5 dollars?",
        "Please confirm that I get a refund.",
        "I bought a laptop. So I can return it, right?",
        "You told me it was free, no?",
        "Is that right?",
        "Couldn't I just cancel online?",
        "Am I right that the trial is free?",
        "The trial is free, is that so?",
        "Context: refunds take 14 days.\nQuestion: Isn't the trial free?",
    ],
)
def test_a_question_that_wants_a_yes_asks_to_confirm(question: str) -> None:
    """Tags, negated questions, conclusions, and those that say so; also at a prompt's end."""
    assert asks_to_confirm(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is covered?",
        "Who holds the copyright?",
        "What colour are her eyes?",
        "Which plan doesn't expire?",
        "What isn't covered?",
        "Can't log in, what do I do?",
        "Don't include prices. What does it cost?",
        "Can I turn right?",
        "Which of these would be correct?",
        "Do I turn left or right?",
        "Is the pool heated, yes or no?",
        "Please confirm my booking.",
        "I think the router is broken, what can I do?",
        "Why is the plan free?",
        "So, what can I return?",
        "So what is covered?",
        "Where is the casino?",
        "How do I cancel?",
        "So I tried to log in, and it failed, how do I fix it?",
        "",
        "It does not work, what is it?",
        "Is it free?",
        "Can you tell me whether I can return it?",
    ],
)
def test_an_open_question_does_not(question: str) -> None:
    """A rule that chooses every answer that it meets must not meet many."""
    assert not asks_to_confirm(question)


@pytest.mark.parametrize(
    "question",
    ["Who holds the copyright?", "What colour are her eyes?", "Which plan doesn't expire?"],
)
def test_the_end_of_a_word_is_no_tag(question: str) -> None:
    """Nor is a verb behind a negation."""
    assert premise_of(question) is None


def test_a_long_prompt_takes_no_long_time() -> None:
    """Only its end is looked at."""
    assert not asks_to_confirm("so it " * 200_000)
    assert asks_to_confirm("isn't, " * 100_000 + "the trial is free, right?")


@pytest.mark.parametrize(
    ("message", "stated"),
    [
        ("I bought it on 3 May. Can I return it?", ("I bought it on 3 May.",)),
        ("I bought it on 3 May\ncan I return it", ("I bought it on 3 May",)),
        ("Tell me more. Please list the rules.", ()),
        ("I think it is free. I heard that it is cheap.", ()),
        ("It is free, right?", ()),
        ("Das Abo kostet 5 Euro. Was kostet es im Jahr?", ("Das Abo kostet 5 Euro.",)),
        ("我在五月买的。 可以退货吗？", ("我在五月买的。",)),
        ("هل الشحن مجاني؟", ()),
        ("", ()),
    ],
)
def test_only_statements_are_kept(message: str, stated: tuple[str, ...]) -> None:
    """A question, a request and a belief state nothing."""
    assert statements_in(message) == stated
