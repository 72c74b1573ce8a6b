from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.neural.cross_encoder import LONGEST, CrossEncoder, WordMark
from rt4chart_models import folder as model_folder
from tests.otel_rt4chart.verify.neural.made_cross import save_cross_encoder

EVIDENCE = "The free trial lasts 14 days. It costs $5.00 a month from then on."
CLAIM = "  The “free trial” lasts 30 days,\n\tand costs $5.00 — then. "
PAIRS = [(CLAIM, EVIDENCE), ("It is free.", EVIDENCE), (CLAIM, ""), ("", EVIDENCE), ("—", "a")]


@pytest.fixture(scope="module", params=["made", "embedded"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, and the embedded one where it is installed."""
    if request.param == "made":
        return save_cross_encoder(tmp_path_factory.mktemp("cross"))
    if not (model_folder() / "judge.onnx").is_file():
        pytest.skip("judge.onnx is not there")
    return model_folder()


@pytest.fixture(scope="module")
def cross(folder: Path) -> CrossEncoder:
    """A reader on one thread."""
    return CrossEncoder(folder, 1)


def words(claim: str, marks: tuple[WordMark, ...]) -> list[str]:
    """What the marks cover."""
    return [claim[mark.start : mark.end] for mark in marks]


def test_the_three_are_logarithms_of_probabilities_that_sum_to_one(cross: CrossEncoder) -> None:
    """Of any pair, empty ones too."""
    for read in cross.read(PAIRS):
        odds = [math.exp(one) for one in (read.entailed, read.contradicted, read.baseless)]
        assert sum(odds) == pytest.approx(1, abs=1e-5)
        assert all(0 <= mark.probability <= 1 for mark in read.marks)


def test_marks_are_the_claims_words_as_they_stand_in_it(cross: CrossEncoder) -> None:
    """Whatever spaces it has, without the punctuation at their edges; a dash is no word."""
    (read,) = cross.read([(CLAIM, EVIDENCE)])

    told = ["The", "free", "trial", "lasts", "30", "days", "and", "costs", "$5.00", "then"]
    assert words(CLAIM, read.marks) == told


def test_a_words_mark_is_its_most_suspect_token(tmp_path: Path) -> None:
    """The small model's marks are a function of the token alone."""
    cross = CrossEncoder(save_cross_encoder(tmp_path))
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ids = tokenizer.encode("unbelievability", add_special_tokens=False).ids

    (read,) = cross.read([("an (unbelievability).", EVIDENCE)])

    assert len(ids) > 1
    most = max(1 / (1 + math.exp(-4 * math.sin(one))) for one in ids)
    assert (read.marks[1].start, read.marks[1].end) == (4, 19)
    assert read.marks[1].probability == pytest.approx(most, abs=1e-4)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80))
def test_marks_lie_in_any_claim_in_order(cross: CrossEncoder, claim: str) -> None:
    """No two overlap, none is empty, none has a space."""
    (read,) = cross.read([(claim, EVIDENCE)])

    edges = [edge for mark in read.marks for edge in (mark.start, mark.end)]
    assert edges == sorted(edges)
    assert all(0 <= mark.start < mark.end <= len(claim) for mark in read.marks)
    assert not any(set(word) & set(" \n\t") for word in words(claim, read.marks))


def test_a_pair_is_read_the_same_in_any_order_and_by_any_reader(
    folder: Path, cross: CrossEncoder
) -> None:
    """Neither what stands beside it nor the number of threads moves a number."""
    together = cross.read(PAIRS)

    assert CrossEncoder(folder, 2).read(PAIRS[::-1]) == together[::-1]
    assert [CrossEncoder(folder).read([pair])[0] for pair in PAIRS] == together
    assert CrossEncoder(folder).id == cross.id


def test_a_pair_is_laid_before_the_model_as_in_training(cross: CrossEncoder, folder: Path) -> None:
    """The claim first, the evidence second; spaces do not matter."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    spaced = CLAIM.replace(" ", "  ")

    assert cross.length(CLAIM, EVIDENCE) == len(tokenizer.encode(CLAIM, EVIDENCE))
    one, other = cross.read([(CLAIM, EVIDENCE), (spaced, EVIDENCE)])
    assert (one.entailed, one.baseless) == (other.entailed, other.baseless)
    assert words(CLAIM, one.marks) == words(spaced, other.marks)
    assert cross.read([(EVIDENCE, CLAIM)])[0].entailed != one.entailed


def test_a_pair_that_is_too_long_is_refused_not_cut(cross: CrossEncoder) -> None:
    """Who asks gives way at whole sentences."""
    long = "The pool is heated. " * 60

    assert (cross.longest, cross.length("It is.", long)) == (LONGEST, 306)
    with pytest.raises(JudgeError, match="expected claim and evidence of 256 tokens, got 306"):
        cross.read([("It is.", long)])


def test_the_id_is_the_models(tmp_path: Path) -> None:
    """A copy has the same, another model another."""
    first = save_cross_encoder(tmp_path / "a")
    copy = shutil.copytree(first, tmp_path / "b")
    cross = CrossEncoder(first)

    assert CrossEncoder(copy).id == cross.id
    (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text() + " ")
    assert CrossEncoder(copy).id != cross.id
    assert cross.id.startswith("cross/")


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    """Two logits are not three labels; a folder without a model is named."""
    cross = CrossEncoder(save_cross_encoder(tmp_path, width=2))

    with pytest.raises(JudgeError, match=r"judge.onnx: expected 3 logits and 7 marks, got 2 and 7"):
        cross.read([("It is.", "b")])
    with pytest.raises(SettingsError, match="install rt4chart-models again"):
        CrossEncoder(tmp_path / "no")


def test_a_package_that_is_not_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comes with the command that installs it."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(SettingsError, match=r"the embedded judge needs the package onnxruntime: "):
        CrossEncoder(folder)
