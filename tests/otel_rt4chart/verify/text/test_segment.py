from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Passage
from otel_rt4chart.verify.text.segment import segment, segment_passages
from otel_rt4chart.verify.text.sentences import MAX_SENTENCE, SEGMENTED_AT_ONCE, sentence_spans


@given(st.text(max_size=400))
def test_sentences_are_disjoint_slices_that_cover_all_but_space(text: str) -> None:
    """Offsets are code points of the text, whatever it holds."""
    found = segment(text)
    rest = list(text)

    for before, after in pairwise(found):
        assert before.end <= after.start
    for one in found:
        assert text[one.start : one.end] == one.text == one.text.strip()
        rest[one.start : one.end] = " " * len(one.text)
    assert not "".join(rest).strip()


@pytest.mark.parametrize(
    "sentence",
    [
        "The U.S. Army left at 5 p.m. Monday.",
        "Dr. Smith et al. paid $3.2 million.",
        "The pool, i.e. the large one, is closed.",
    ],
)
def test_abbreviations_do_not_end_a_sentence(sentence: str) -> None:
    """A full stop inside a sentence is not its end."""
    assert [one.text for one in segment(f"{sentence} Nothing else.")] == [sentence, "Nothing else."]


@pytest.mark.parametrize(
    "sentence",
    [
        "All errors inherit from openai.APIError.",
        "Pass a truststore.SSLContext to urllib3.PoolManager as ssl_context.",
        "Use **torch.Tensor** with ssl.PROTOCOL_TLS_CLIENT.",
        "Then np.Array(x) and self.data.Value are equal.",
    ],
)
def test_a_dotted_name_is_not_cut(sentence: str) -> None:
    """Half of an identifier is no claim: "Create a truststore."."""
    assert [one.text for one in segment(f"{sentence} Nothing else.")] == [sentence, "Nothing else."]


def test_sentences_without_a_space_between_them_are_cut() -> None:
    """A missing space is common in what models write."""
    text = "It ended in 2019.The rest stayed at the firm.Nobody left."

    assert [one.text for one in segment(text)] == [
        "It ended in 2019.",
        "The rest stayed at the firm.",
        "Nobody left.",
    ]


def test_lines_of_code_stand_alone() -> None:
    """Each line between fences says something of its own, unlike lines of wrapped prose."""
    wrapped = "For paths instead of strings, which many prefer in what they write,\nuse path()."
    text = f"```python\nuser_data()  # ~/data\nuser_log()  # ~/log\n```\n\n{wrapped}"

    assert [one.text for one in segment(text)] == [
        "```python",
        "user_data()  # ~/data",
        "user_log()  # ~/log",
        "```",
        wrapped,
    ]


def test_a_passage_that_begins_within_code_ends_it_at_the_first_fence() -> None:
    """A retriever's passages are cut anywhere; the prose behind a bare fence is wrapped still."""
    wrapped = "For paths instead of strings, which many prefer in what they write,\nuse path()."

    assert segment(f"user_log()  # ~/log\n```\n\n{wrapped}")[-1].text == wrapped


def test_list_items_are_sentences() -> None:
    """Each line of a list stands alone, also without a full stop."""
    assert [one.text for one in segment("Included:\n- dental\n- vision")] == [
        "Included:",
        "- dental",
        "- vision",
    ]


def test_a_megabyte_without_a_line_break_is_segmented_whole() -> None:
    """No text is too long, and none of it is cut off."""
    text = "The quick brown fox jumps over the lazy dog near 42 trees. " * 17_000

    found = segment(text)

    assert len(text) > 1_000_000
    assert len(found) == 17_000
    assert found[-1].end == len(text.rstrip())


def test_indices_count_on_from_passage_to_passage() -> None:
    """The context's sentences are one sequence, each with its passage."""
    found = segment_passages([Passage("a", "One. Two."), Passage("b", "Three.")])

    assert [(s.index, s.passage_id, s.text) for s in found] == [
        (0, "a", "One."),
        (1, "a", "Two."),
        (2, "b", "Three."),
    ]


def test_structured_passages_are_read_in_words_and_keep_their_offsets() -> None:
    """A judge reads what the JSON says, evidence is what stands there."""
    passage = Passage("p", '{"name": "Joe\'s", "WiFi": "no"}')

    found = segment_passages([Passage("a", "Dogs are welcome."), passage])

    assert [one.index for one in found] == [0, 1, 2]
    assert all(one.text == passage.text[one.start : one.end] for one in found[1:])
    assert found[2].text == '"WiFi": "no"'
    assert found[2].reading == "WiFi is not available (Joe's)."


@pytest.mark.parametrize("unit", ["x", "字", "é\u0301", "👩\u200d👧"])
def test_text_without_spaces_is_cut_into_bounded_sentences(unit: str) -> None:
    """No sentence outgrows a judge's input, no grapheme is split, and nothing is lost."""
    text = unit * 5000

    found = segment(text)

    assert "".join(one.text for one in found) == text
    assert max(len(one.text) for one in found) <= MAX_SENTENCE
    assert all(len(one.text) % len(unit) == 0 for one in found)


@given(
    st.lists(
        st.sampled_from(
            ["“", "`", "(", "中。", "word ", "A sentence. ", "Dr. Who ", "\u0301", "。"]
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(100, 900),
)
def test_a_long_line_is_read_in_parts_without_loss(units: list[str], times: int) -> None:
    """The segmenter's time grows with the square of a part, so no part is longer than the limit."""
    line = "".join(unit * times for unit in units).strip()

    spans = list(sentence_spans(line))

    assert all(end - start <= MAX_SENTENCE for start, end in spans)
    kept = "".join(line[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(line.split())


def test_a_sentence_across_two_parts_stays_whole() -> None:
    """A part ends before its last sentence, which the next part reads from its start."""
    sentence = "The trial lasts 14 days, and it can be extended once by a week. "
    line = sentence * (3 * SEGMENTED_AT_ONCE // len(sentence))

    found = segment(line.strip())

    assert {one.text for one in found} == {sentence.strip()}


def test_an_unbalanced_quotation_mark_hides_no_later_part() -> None:
    """Behind it the segmenter sees no sentence, in one part but not in all that follow."""
    sentence = "The trial lasts 14 days, and it can be extended once by a week. "
    line = "He said: “" + sentence * (3 * SEGMENTED_AT_ONCE // len(sentence))

    found = segment(line.strip())

    assert [one.text for one in found[-20:]] == [sentence.strip()] * 20
