"""Words: offsets, stems, rarity."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import decompose
from otel_rt4chart.verify.language.tokens import stem, tokenize


@given(st.text(max_size=200))
def test_every_word_is_a_slice_of_its_text(text: str) -> None:
    """Offsets are exact and in order for any text at all."""
    tokens = tokenize(text)

    assert all(token.text == text[token.start : token.end] for token in tokens)
    assert all(left.end <= right.start for left, right in pairwise(tokens))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("policies", "policy"),
        ("applied", "apply"),
        ("won", "win"),
        ("announcement", "announce"),
        ("three", "3"),
        ("third", "3"),
        ("q3", "third"),
        ("stopped", "stop"),
        ("1,500", "1500"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    """Inflections, number words and quarters meet."""
    assert stem(one) == stem(other)


# Two verbs share a form: "founded" and "found", "butting" and "but".
SHARED = {"found", "fell", "live", "butt", "putt"}


def regular_verbs() -> Iterator[tuple[str, ...]]:
    """A base and its three forms, for each regular verb of which the package lists two forms."""
    listed = files(decompose).joinpath("verbs.txt").read_text("utf-8").splitlines()
    forms = {line.split()[0] for line in listed if not line.startswith("#")}
    for form in sorted(forms):
        base = form.removesuffix("s")
        if form.endswith("ies"):
            base = form[:-1] if len(form) == 4 else f"{form[:-3]}y"
            past, now = f"{form[:-3]}ied", f"{form[:-3]}ying"
        elif form.endswith("es"):
            past = f"{base}d"
            now = f"{base if base.endswith(('ee', 'oe', 'ye')) else base[:-1]}ing"
        else:
            past, now = f"{base}ed", f"{base}ing"
        if f"{base}{base[-1]}ed" in forms:
            past, now = f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"
        if base != form and past in forms and base not in SHARED:
            yield base, form, past, now


def test_all_forms_of_a_verb_share_a_stem() -> None:
    """Of every regular verb in the package's list: "cause", "causes", "caused", "causing"."""
    verbs = list(regular_verbs())

    apart = {
        base: found for base, *forms in verbs if len(found := {*map(stem, [base, *forms])}) > 1
    }

    assert apart == {}
    assert len(verbs) > 1_500


@pytest.mark.parametrize(
    "forms",
    [
        "take takes taking took taken", "make makes making made", "give gives giving gave given",
        "rise rises rising rose risen", "leave leaves leaving left", "lose loses losing lost",
        "write writes writing wrote", "choose chooses choosing chose", "use uses using used",
        "go goes going went gone", "come comes coming came", "agree agrees agreeing agreed",
        "exceed exceeds exceeding exceeded", "add adds adding added", "die dies dying died",
        "embed embeds embedding embedded", "try tries trying tried",
    ],
)  # fmt: skip
def test_an_irregular_verb_has_one_stem_too(forms: str) -> None:
    """The base keeps its e, so the forms that lose it must find back to it."""
    assert len(set(map(stem, forms.split()))) == 1


@pytest.mark.parametrize(("one", "other"), [("weekday", "weekend"), ("rise", "raisin")])
def test_other_words_keep_their_stems_apart(one: str, other: str) -> None:
    """The stemmer does not join words that merely begin alike."""
    assert stem(one) != stem(other)


def test_function_words_carry_no_content_and_rare_words_more_than_common_ones() -> None:
    """Rarity is 0 for `the`, and grows with how seldom texts use the word."""
    the, people, zyzzyva = tokenize("the people zyzzyva")

    assert not the.is_content
    assert 0.0 < people.rarity < zyzzyva.rarity == 1.0


def test_countries_written_with_dots_are_the_same_word_and_us_is_a_pronoun() -> None:
    """`U.S.` and `US` meet; `us` does not."""
    dotted, plain, pronoun = tokenize("U.S. US us")

    assert dotted.stem == plain.stem == "usa"
    assert not pronoun.is_content


def test_ideographs_are_words_of_their_own() -> None:
    """A script without spaces still yields words to compare."""
    assert [token.text for token in tokenize("东京塔 Tower")] == ["东", "京", "塔", "Tower"]
