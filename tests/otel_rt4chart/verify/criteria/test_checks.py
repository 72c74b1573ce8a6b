from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, Passage
from otel_rt4chart.verify.criteria.checks import check_answer, is_asked
from otel_rt4chart.verify.criteria.model import (
    AnswerTest,
    CitationCheck,
    Criterion,
    CriterionOutcome,
    JudgedCheck,
    RegexCheck,
    SchemaCheck,
)
from otel_rt4chart.verify.criteria.patterns import compiled

PASS, FAIL, UNDECIDED = (
    CriterionOutcome.PASS,
    CriterionOutcome.FAIL,
    CriterionOutcome.UNDECIDED,
)
PASSAGES = (Passage("kb-1", "It lasts 14 days."), Passage("kb-2", "It costs 5 euros."))
SCHEMA = SchemaCheck('{"type": "object", "required": ["days"]}')


def outcome(check: AnswerTest, answer: str, *, has_claims: bool = True) -> CriterionOutcome:
    """What the check says of an answer to a question about two passages."""
    exchange = Exchange("How long?", PASSAGES, answer)
    return check_answer(Criterion("c", check), exchange, has_claims=has_claims).outcome


@pytest.mark.parametrize(
    ("check", "answer", "expected"),
    [
        (RegexCheck(must_match=r"\bfee\b"), "There is a fee.", PASS),
        (RegexCheck(must_match=r"\bfee\b"), "It is free.", FAIL),
        (RegexCheck(must_not_match=r"\d{3}-\d{4}"), "Call 555-1234.", FAIL),
        (RegexCheck(must_not_match=r"\d{3}-\d{4}"), "Write to us.", PASS),
        (RegexCheck(must_match="fee", must_not_match="free"), "A fee, not free.", FAIL),
        (RegexCheck(must_match="fee", must_not_match="free"), "Nothing.", FAIL),
        (RegexCheck(must_match="fee", must_not_match="free"), "A fee.", PASS),
        (SCHEMA, '{"days": 14}', PASS),
        (SCHEMA, '{"weeks": 2}', FAIL),
        (SCHEMA, "It lasts 14 days.", FAIL),
        (SCHEMA, '{"days": 14, "days": 15}', FAIL),
        (SCHEMA, "[" * 20_000 + "]" * 20_000, UNDECIDED),
        (SCHEMA, f'{{"days": {"1" * 5000}}}', UNDECIDED),
        (SCHEMA, '{"days": 1e999}', UNDECIDED),
        (CitationCheck(), "It lasts 14 days [1].", PASS),
        (CitationCheck(), "It lasts 14 days [kb-1].", PASS),
        (CitationCheck(), "It lasts 14 days.", FAIL),
        (CitationCheck(), "It lasts 14 days [1]. It costs 5 euros [7].", FAIL),
        (CitationCheck(least=2), "It lasts 14 days [1].", FAIL),
        (CitationCheck(least=2), "It lasts 14 days [1]. It costs 5 euros [2].", PASS),
    ],
)
def test_a_rule_decides(check: AnswerTest, answer: str, expected: CriterionOutcome) -> None:
    """Without a model, and the same each time."""
    assert outcome(check, answer) is expected


def test_an_answer_that_states_nothing_need_not_cite() -> None:
    """A refusal has no claim for a citation."""
    found = outcome(CitationCheck(), "I cannot help with that.", has_claims=False)

    assert found is CriterionOutcome.NOT_APPLICABLE


def test_a_reason_quotes_the_words_that_decide() -> None:
    """On one line, of a bounded length."""
    check = RegexCheck(must_not_match=r"secret.*", must_match="")
    exchange = Exchange("", PASSAGES, "The secret\u202e is " + "x" * 300)

    found = check_answer(Criterion("c", check), exchange, has_claims=True)

    assert found.reason.startswith("“secret is xxx")
    assert len(found.reason) < 120


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){25}$"])
def test_a_slow_pattern_is_ended(pattern: str) -> None:
    """An answer made for it must not stop a worker, for longer than any test run waits."""
    exchange = Exchange("", PASSAGES, "a" * 5_000 + "!")

    found = check_answer(Criterion("c", RegexCheck(must_match=pattern)), exchange, has_claims=True)

    assert found.outcome in (UNDECIDED, FAIL)  # some are fast, because the package is
    if found.outcome is UNDECIDED:
        assert found.reason.startswith("took_too_long: ")


def test_a_pattern_that_takes_too_long_is_undecided() -> None:
    """Which says what took so long."""
    exchange = Exchange("", PASSAGES, "a" * 5_000 + "!")
    check = RegexCheck(must_match=r"(a|a|b?a)+\d$")

    found = check_answer(Criterion("c", check), exchange, has_claims=True)

    assert found == (UNDECIDED, "took_too_long: the pattern took longer than 0.5 s")


def test_an_answer_beyond_the_limits_is_undecided() -> None:
    """It is neither cut nor searched."""
    assert outcome(RegexCheck(must_match="a"), "a" * 50_001) is UNDECIDED


def test_a_criterion_applies_where_the_question_matches() -> None:
    """Elsewhere nothing is asked."""
    criterion = Criterion("c", JudgedCheck("…"), when_question=r"(?i)refund")

    assert is_asked(criterion, Exchange("How do REFUNDS work?", (), "…")) is None
    other = is_asked(criterion, Exchange("How long?", (), "…"))
    assert other is not None
    assert other.outcome is CriterionOutcome.NOT_APPLICABLE


def test_an_endless_question_is_not_searched() -> None:
    """Whether the criterion applies is not known then."""
    criterion = Criterion("c", JudgedCheck("…"), when_question="refund")

    found = is_asked(criterion, Exchange("a" * 60_000, (), "…"))

    assert found is not None
    assert found.outcome is UNDECIDED


def test_a_judged_criterion_is_no_rule() -> None:
    """Whoever asks for one has made a mistake."""
    with pytest.raises(ValueError, match="needs no model"):
        outcome(JudgedCheck("…"), "It lasts 14 days.")


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", "x" * 2_001])
def test_an_expression_that_cannot_be_used_is_refused(pattern: str) -> None:
    """With what is wrong."""
    with pytest.raises(ValueError, match=r"\w"):
        compiled(pattern)
