"""The written cases: all are well formed, and every filling keeps claims and labels apart."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pairs import LABELS
from written.cases import NUMBERS, number_pairs, read_cases, written_pairs

CASES = read_cases()
POOLS = 'thing = ["cup", "plate"]\n'


def _folder(folder: Path, case: str) -> Path:
    (folder / "pools.toml").write_text(POOLS, "utf-8")
    (folder / "cases.toml").write_text(f'[[case]]\nkind = "made"\n{case}\n', "utf-8")
    return folder


def test_no_claim_of_a_case_has_two_labels() -> None:
    """A claim that is right and wrong would teach nothing."""
    for case in CASES:
        texts = [text for label in LABELS for text in case.claims[label]]
        assert len(texts) == len(set(texts)), case.name


def test_a_tenth_of_the_cases_is_held_out() -> None:
    """By name, so that another case does not change which."""
    share = sum(case.is_held_out for case in CASES) / len(CASES)
    assert 0.05 < share < 0.15


def test_a_filled_case_has_no_slot_left_and_its_passage_beside_every_claim() -> None:
    """Whatever stands beside the passage."""
    found = list(written_pairs(CASES, 2, random.Random(1)))
    assert {pair.kind for pair in found} == set(LABELS)
    assert not [pair for pair in found if "{" in pair.claim + pair.evidence]
    by_twin = {pair.twin: pair.evidence for pair in found}
    assert all(by_twin[pair.twin] == pair.evidence for pair in found)


def test_a_wrong_claim_is_marked_where_it_differs_from_a_right_one() -> None:
    """The marks lie in the claim; a right claim has none."""
    for pair in written_pairs(CASES[:60], 1, random.Random(2)):
        if pair.unfaithful:
            assert all(0 <= start < end <= len(pair.claim) for start, end in pair.marks or ())
        else:
            assert pair.marks == ()


def test_a_claim_on_a_table_is_read_beside_its_rows() -> None:
    """The evidence is what the judge would read, not the table's raw text."""
    found = list(number_pairs(60, random.Random(3)))
    assert {pair.dataset for pair in found} == {NUMBERS}
    assert not [pair for pair in found if "| --- |" in pair.evidence]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            'passage = "A {thing}."\nentailed = ["A {cat}."]\nbaseless = ["No."]',
            "expected slots of known pools, got \\['cat'\\]",
        ),
        ('passage = "A {thing}."\nentailed = ["A {thing}."]', "expected right and wrong claims"),
    ],
)
def test_a_broken_case_is_named(tmp_path: Path, case: str, message: str) -> None:
    """With what is wrong with it."""
    with pytest.raises(ValueError, match=f"cases/0: {message}"):
        read_cases(_folder(tmp_path, case))
