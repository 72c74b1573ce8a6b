"""HTML passages as evidence: tables by row and header, lists and headings line by line."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Fact, Passage, Sentence
from otel_rt4chart.verify.text.segment import segment_passages

PHONES = """<p>See:</p><table class="a>b"><caption>Phones</caption>
<tr><th>Model</th><th>Price</th><th>Weight (g)</th></tr>
<tr><td>X200</td><td><b>$249</b></td><td>254</td></tr>
<tr><td>X&amp;300</td><td>$349</td><td>260</td></tr></table>"""
IN_MARKDOWN = """See:

Phones

| Model | Price | Weight (g) |
| --- | --- | --- |
| X200 | $249 | 254 |
| X&300 | $349 | 260 |
"""


def read(text: str) -> tuple[Sentence, ...]:
    """The sentences of one passage."""
    return segment_passages([Passage("p", text)])


def readings(text: str) -> list[str]:
    """What judges read of one passage."""
    return [sentence.reading for sentence in read(text)]


def test_a_table_says_what_the_same_table_in_markdown_says() -> None:
    """Each row is a sentence with its headers; its range begins and ends with its own text."""
    found = read(PHONES)

    assert [(one.reading, one.facts) for one in found] == [
        (one.reading if one.rendered else f"{one.text}.", one.facts) for one in read(IN_MARKDOWN)
    ]
    assert found[2].facts == (Fact("X200", "price", "$249"), Fact("X200", "weight", "254 g"))
    assert found[3].text == "X&amp;300</td><td>$349</td><td>260"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<table><tr><th>Weight</th><td>254 g</td></tr><tr><th>Colour<td>red</table>",
            ["Weight is 254 g.", "Colour is red."],
        ),
        (
            "<table><tr><th rowspan=2>Plan</th><th colspan=2>Price</th></tr><tr><th>monthly</th>"
            "<th>yearly</th></tr><tr><td rowspan=2>Pro</td><td>$20</td><td>$200</td></tr>"
            "<tr><td>$21</td><td>$210</td></tr><tr><td colspan=3>Old</td></tr>"
            "<tr><td>Lite</td><td colspan=2>$5</td></tr></table>",
            [
                "Plan Pro: price monthly is $20; price yearly is $200.",
                "Plan Pro: price monthly is $21; price yearly is $210.",
                "Old.",
                "Plan Lite: price monthly is $5; price yearly is $5.",
            ],
        ),
        (
            "<table><tr><td>France<td>Paris<tr><td>Italy<td>Rome</table>",
            ["France | Paris.", "Italy | Rome."],
        ),
        ("<tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr>", ["A 1: b is 2."]),
        (
            "<h2>Returns</h2><ul><li>Within 30 days<li>With a receipt</ul>Ask<br>us.",
            ["Returns.", "Within 30 days.", "With a receipt.", "Ask.", "us."],
        ),
        (
            "<div>The shop\nopens at 9.</div><script>if (a<b) x()</script><style>p{}</style>",
            ["The shop opens at 9."],
        ),
    ],
)  # fmt: skip
def test_html_is_read_as_a_browser_shows_it(text: str, expected: list[str]) -> None:
    """Headers over several columns, values over several rows, blocks that end no tag."""
    assert readings(text) == expected


def test_a_text_that_mentions_a_tag_is_no_html() -> None:
    """Without a closed block, it is read as it stands."""
    (sentence,) = read("Use the <td> tag for cells; 3 < 4 & 5 > 4.")

    assert (sentence.text, sentence.rendered) == ("Use the <td> tag for cells; 3 < 4 & 5 > 4.", "")


TAGS = (
    *("<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<th>", "</th>", "<th/>", "<p>"),
    *("</p>", "<li>", "<ul>", "</div>", "<caption>", "<td colspan=3>", "<td\nrowspan=9>", "<br>"),
    *('<th colspan="x">', "<td colspan=99999", "<!--", "-->", "<script>", "</script>"),
)
WORDS = (
    "&amp;",
    "&nope;",
    "&#0;",
    "&#x110000;",
    "|",
    "---",
    "word",
    "Two. ",
    "<",
    ">",
    '"',
    "é\u0301",
)
PIECES = st.sampled_from((*TAGS, *WORDS))


@given(st.lists(PIECES | st.text(max_size=6), max_size=60))
def test_ranges_are_right_whatever_the_html(pieces: list[str]) -> None:
    """Nothing raises; the sentences are disjoint, in order, and slices of the passage."""
    text = "".join(pieces) + "</p>"

    found = read(text)

    assert all(one.text == text[one.start : one.end] and one.text for one in found)
    assert all(left.end <= right.start for left, right in pairwise(found))


def test_cells_that_span_many_columns_are_not_repeated_for_ever() -> None:
    """The copies of a passage are bounded, in number and in characters."""
    row = f"<tr><td colspan=1000 rowspan=1000>{'long ' * 300}</td><td>x</td></tr>"
    text = f"<table><tr><th>A</th><th>B</th></tr>{row * 300}</table>"

    assert sum(len(one.reading) for one in read(text)) < 3 * len(text)
