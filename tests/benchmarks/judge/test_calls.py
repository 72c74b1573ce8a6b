from __future__ import annotations

from benchmarks.judge.calls import atoms, compare, measure, truth
from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.verify.core.model import Exchange, Passage

FILLER = " ".join(f"Ticket {number} of the archive is closed." for number in range(30))
POLICY = "The free trial lasts 14 days for new users. Refunds are paid within 5 days."


def row(number: int, answer: str, text: str = POLICY) -> LabelledAnswer:
    """An unlabelled answer to one passage."""
    exchange = Exchange("", (Passage("p1", text),), answer)
    return LabelledAnswer(str(number), "s", "", "tiny", "g", "dev", exchange, False, None, ())


ROWS = [
    row(1, "The free trial lasts 14 days. Refunds are paid within 30 days in Norway."),
    row(2, "The free trial lasts 14 days.", f"{FILLER} {POLICY}"),
]


def test_both_pipelines_give_the_same_labels_and_ours_asks_less() -> None:
    """Equal claims and labels, with no more calls and tokens."""

    compared = compare(ROWS, atoms)

    for one in compared:
        assert one.answer_agrees
        assert one.agreeing == one.agreeing_locally == one.claims > 0
        assert one.naive.calls == one.sentences + one.claims * (one.chunks + 1)
        assert one.asked_again == 0
        assert one.fresh.calls <= one.naive.calls
        assert one.fresh.prompt_tokens <= one.naive.prompt_tokens
    assert [one.chunks for one in compared] == [1, 2]
    assert compared[0].fresh.calls == 2 < compared[0].naive.calls


def test_times_of_all_three_are_told() -> None:
    """Each pipeline's wall time, in milliseconds."""

    (timed,) = measure(ROWS[:1], atoms, latency_ms=1.0)

    assert timed.naive > timed.fresh > 0
    assert timed.shared > 0


def test_atoms_stand_alone_in_the_sentences_own_words() -> None:
    """Conjuncts and dated phrases each stand behind the verb; a question claims nothing."""

    assert atoms("The drug was approved in 2019, in Norway and in Sweden for adults.") == [
        "The drug was approved in 2019",
        "The drug was approved in Norway",
        "The drug was approved in Sweden for adults.",
    ]
    assert atoms("Who approved the drug?") == []


def test_oracle_joins_sentences_and_compares_numbers() -> None:
    """Words spread over sentences support a claim; another number denies it."""

    sentences = ["The trial lasts 14 days.", "Refunds are paid.", "The trial is free."]

    assert truth("The free trial lasts 14 days", sentences).label == "entailed"
    assert truth("The free trial lasts 30 days", sentences).label == "contradicted"
    assert truth("Parking is limited", sentences).label == "baseless"
