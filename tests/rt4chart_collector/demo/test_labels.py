from __future__ import annotations

from rt4chart_collector.demo.labels import DATA, HumanLabel, LabelAgreement, agreement, read_labels

ANSWER = "The trial is free. It lasts 30 days."
WRONG = HumanLabel("a", "sales", ANSWER, hallucinated=True, ranges=((28, 30),))
RIGHT = HumanLabel("b", "sales", ANSWER, hallucinated=False, ranges=())
LEFT_OUT = HumanLabel("c", "sales", ANSWER, hallucinated=True, ranges=())


def test_a_claim_is_marked_where_an_error_lies_in_it() -> None:
    """Only the sentence with the marked characters."""
    assert WRONG.marks("It lasts 30 days.") is True
    assert WRONG.marks("The trial is free.") is False
    assert RIGHT.marks("It lasts 30 days.") is False


def test_a_claim_is_left_open_where_only_the_answer_is_known_to_be_wrong() -> None:
    """An error by omission has no place; a claim that the answer does not hold has none either."""
    assert LEFT_OUT.marks("It lasts 30 days.") is None
    assert WRONG.marks("Something else.") is None


def test_agreement_counts_known_claims_alone() -> None:
    """Rate, recall and false alarms are shares of what people told."""
    found = agreement(
        [
            (WRONG, "It lasts 30 days.", True),
            (WRONG, "The trial is free.", True),
            (RIGHT, "The trial is free.", False),
            (LEFT_OUT, "The trial is free.", True),
        ]
    )

    assert found == LabelAgreement(claims=3, marked=1, both=1, flagged=2)
    assert (found.rate, found.recall, found.false_alarms) == (1 / 3, 1.0, 0.5)
    assert (LabelAgreement().rate, LabelAgreement().recall, LabelAgreement().false_alarms) == (
        None,
        None,
        None,
    )


def test_the_bundled_labels_fit_their_answers() -> None:
    """Eight routes, about 400 answers, every range inside its answer; under 3 MB in all."""
    labels = read_labels(DATA)

    assert len(labels) == 402
    assert len({label.route for label in labels.values()}) == 8
    for label in labels.values():
        assert all(0 <= low < high <= len(label.answer) for low, high in label.ranges)
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 3_000_000
