from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.neural.model_folder import find_model, identify
from otel_rt4chart.verify.neural.pair_classifier import PairClassifier
from tests.otel_rt4chart.verify.neural.made import LIGHT, WORDS, save_model

TEXTS = st.lists(st.sampled_from([*WORDS.split(), *LIGHT]), max_size=40).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12)
KINDS = {"token types": (True, False), "separators": (False, False), "scaled": (True, True)}


@pytest.fixture(scope="module", params=KINDS)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> PairClassifier:
    """A session of each kind of model, opened as the judge opens it."""
    by_type, is_scaled = KINDS[request.param]
    path = tmp_path_factory.mktemp("kinds")
    folder = find_model(save_model(path, by_type=by_type, is_scaled=is_scaled))
    return PairClassifier(folder, one_by_one=identify(folder).is_scaled_by_batch)


@settings(max_examples=30)
@given(PAIRS)
def test_a_pair_is_given_the_same_whatever_stands_beside_it(
    session: PairClassifier, pairs: list[tuple[str, str]]
) -> None:
    """Neither padding nor the order of a batch moves a number."""
    together = session.probabilities(pairs)

    assert together == [session.probabilities([pair])[0] for pair in pairs]
    assert together[::-1] == session.probabilities(pairs[::-1])
    assert all(sum(one) == pytest.approx(1, abs=1e-3) for one in together)


def test_a_model_that_scales_by_batch_is_asked_pair_by_pair(tmp_path: Path) -> None:
    """In a batch its numbers would depend on the others."""
    folder = find_model(save_model(tmp_path, is_scaled=True))
    four, five = "pool heated served nine", "pool heated served nine roof"
    pairs = [(four, five), ("dogs", "garden not")]

    assert identify(folder).is_scaled_by_batch
    batched = PairClassifier(folder).probabilities(pairs)
    assert batched[0] != PairClassifier(folder, one_by_one=True).probabilities(pairs)[0]


def test_more_than_a_batch_holds_comes_back_in_order(session: PairClassifier) -> None:
    """Each pair has its own number, long and short ones mixed."""
    words = WORDS.split()
    pairs = [(" ".join(words[: n % 40]), words[n % 30]) for n in range(600)]

    given = session.probabilities(pairs)

    assert [one[0] > 0.5 for one in given] == [n % 30 < n % 40 for n in range(600)]
    assert session.probabilities([]) == []


def test_a_pair_that_is_too_long_is_refused_not_cut(session: PairClassifier) -> None:
    """The tokenizer's own truncation is off."""
    long = "pool " * 600

    assert session.longest == 512
    assert session.pair_length(long, "heated") == 604
    with pytest.raises(JudgeError, match="expected pairs of 512 tokens, got 604"):
        session.probabilities([(long, "heated")])


def test_the_longest_input_is_where_the_tokenizer_would_cut(short_model: Path) -> None:
    """Its file says so, padding there is ignored."""
    session = PairClassifier(find_model(short_model))

    assert (session.longest, session.pair_length("pool", "pool")) == (32, 5)


def test_threads_may_share_a_session(session: PairClassifier) -> None:
    """All get what one alone gets."""
    pairs = [("the pool is heated", "the pool is heated"), ("the pool is not heated", "heated")]
    expected, given = session.probabilities(pairs), []
    threads = [Thread(target=lambda: given.append(session.probabilities(pairs))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert given == [expected] * 8


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_number(model: Path, threads: int) -> None:
    """Only how long it takes."""
    pairs = [("the pool is heated", "the garden is heated")] * 3

    given = PairClassifier(find_model(model), threads=threads).probabilities(pairs)

    assert given == PairClassifier(find_model(model)).probabilities(pairs)


def test_half_a_character_is_read_as_an_unknown_one(session: PairClassifier) -> None:
    """JSON can escape what no tokenizer takes."""
    assert session.pair_length("\ud800 pool", "pool") == 6
