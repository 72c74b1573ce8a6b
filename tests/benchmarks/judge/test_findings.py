from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.judge.findings import (
    EXPECTED,
    PASSAGE_SENTENCES,
    agreement,
    edits,
    kind_table,
    measure,
    share_table,
    split,
)
from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify.core.model import Exchange, Passage

DATA = Path(__file__).parents[3] / "collector/rt4chart_collector/demo/data"
NUMBERED = " ".join(f"Ticket {number} of the archive is closed." for number in range(12))


def row(*texts: str) -> LabelledAnswer:
    """A faithful answer to these passages."""
    passages = tuple(Passage(f"p{number}", text) for number, text in enumerate(texts, start=1))
    exchange = Exchange("", passages, "Ticket 3 of the archive is closed.")
    return LabelledAnswer("1", "s", "", "tiny", "g", "dev", exchange, False, None, ())


def test_few_faithful_answers_of_the_demo_are_accused() -> None:
    """Under one in twenty is called one-sided or short of a qualifier, in every layout."""

    layouts, kinds = measure(read_rows(DATA), edits(DATA / "response.jsonl"))

    for name in ("given", "split"):
        faithful = layouts[name]["summedits"]["faithful"]
        assert faithful["n"] > 100
        assert faithful.get("cherry_picked", 0.0) < 0.05
        assert faithful.get("dropped_qualifier", 0.0) < 0.05
    found = agreement(kinds)["all claims"]
    assert found["claims"] > 40
    assert found["expected"] > max(found["constant"], found["random"])
    assert "overreach" in share_table(layouts["given"])
    assert "entity_swap" in kind_table(kinds)


def test_a_denying_passage_is_counted_under_its_name_and_its_kind() -> None:
    """The answer's claim is entailed by one passage and denied by the other."""

    layouts, _ = measure([row(NUMBERED, "Ticket 3 of the archive is not closed.")], {})

    for name in ("given", "several"):
        shares = layouts[name]["tiny"]["faithful"]
        assert shares["cherry_picked"] == shares["cherry_picked.contradiction"] == 1.0
    assert layouts["split"] == {"all": {"faithful": {"n": 0}, "unfaithful": {"n": 0}}}


def test_a_long_passage_is_cut_between_sentences_and_nothing_else_is() -> None:
    """No text is lost but the spaces between passages; short and several passages stay."""

    cut = split(row(NUMBERED))

    assert cut is not None
    texts = [passage.text for passage in cut.exchange.passages]
    assert " ".join(texts) == NUMBERED
    assert [text.count(".") for text in texts] == [PASSAGE_SENTENCES, PASSAGE_SENTENCES, 2]
    assert split(row("Ticket 3 is closed.")) is None
    assert split(row(NUMBERED, NUMBERED)) is None


def test_baselines_beside_the_agreement() -> None:
    """Always the best single kind, and our own kinds without regard to the edit."""

    kinds = {edit: Counter[str]() for edit in EXPECTED}
    kinds["entity_modification"] = Counter({"entity_swap": 5, "other": 1})
    kinds["negation_insertion_removal"] = Counter({"negation_flip": 1, "other": 1})

    found = agreement(kinds)

    assert found["negation_insertion_removal"] == {
        "claims": 2,
        "expected": 0.5,
        "constant": 0.0,
        "random": 0.125,
    }
    assert found["all claims"]["constant"] == 0.75
    assert found["all edits alike"]["constant"] == 0.5
