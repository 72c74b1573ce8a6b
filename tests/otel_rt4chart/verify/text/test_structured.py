from __future__ import annotations

import json
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Fact
from otel_rt4chart.verify.text.segment import render_structured, segment
from otel_rt4chart.verify.text.sentences import MAX_SENTENCE

YELP = {
    "name": "Joe's Diner",
    "address": "12 State St",
    "city": "Santa Barbara",
    "categories": "Diners, Restaurants",
    "hours": {"Monday": "8:0-22:0", "Tuesday": "0:0-0:0", "Sunday": None},
    "attributes": {
        "BusinessParking": {"garage": False, "lot": True},
        "RestaurantsReservations": False,
        "OutdoorSeating": None,
        "WiFi": "no",
        "RestaurantsTakeOut": True,
        "RestaurantsGoodForGroups": True,
        "Alcohol": "u'none'",
        "Ambience": {},
    },
    "business_stars": 3.5,
    "review_info": [
        {"review_stars": 5.0, "review_text": 'Great food.\nWe will "return"!'},
        {"review_stars": 1.0, "review_text": "Cold"},
    ],
}
YELP_WORDS = """\
The name is Joe's Diner.
Address is 12 State St (Joe's Diner).
City is Santa Barbara (Joe's Diner).
Categories is Diners, Restaurants (Joe's Diner).
Monday hours: 8:00 to 22:00 (Joe's Diner).
Tuesday hours: 0:00 to 0:00 (Joe's Diner).
Sunday hours is unknown (Joe's Diner).
Business parking: garage is not available (Joe's Diner).
Business parking: lot is available (Joe's Diner).
Restaurants reservations is not available (Joe's Diner).
Whether outdoor seating is available is unknown (Joe's Diner).
WiFi is not available (Joe's Diner).
Restaurants take out is available (Joe's Diner).
Restaurants good for groups: yes (Joe's Diner).
Alcohol is none (Joe's Diner).
Ambience is not given (Joe's Diner).
Business stars is 3.5 (Joe's Diner).
Review stars is 5.0 (Joe's Diner).
Review text: Great food. We will "return"! (Joe's Diner).
Review stars is 1.0 (Joe's Diner).
Review text is Cold (Joe's Diner)."""
PROSE = "The bill passed the House in 2021: it cost $3 billion. Nobody, not even Bob, objected."
CODE = "import os\n\ndef run(a, b):\n    x: int = 1\n    y = f(a, b)\n    return x + y\n"


def words(text: str) -> list[str]:
    """What is said, or nothing."""
    return [each.words for each in render_structured(text) or ()]


def slices(text: str) -> list[str]:
    """The source of what is said."""
    return [text[each.start : each.end] for each in render_structured(text) or ()]


def assert_sound(text: str) -> None:
    """The ranges are in order, disjoint, trimmed and filled; the words are one closed line."""
    found = render_structured(text)
    if found is None:
        return
    assert len(found) > 0
    assert all(before.end <= after.start for before, after in pairwise(found))
    for start, end, said, _ in found:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert said == " ".join(said.split())
        assert said.rstrip("\"')]}”’»").endswith((".", "!", "?", "…", "。", "！", "？"))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_business_record_is_told_in_sentences(indent: int | None) -> None:
    """Every leaf says what it is and whose, in the order of the record."""
    assert words(json.dumps(YELP, indent=indent)) == YELP_WORDS.splitlines()


def test_the_repr_of_a_record_says_the_same() -> None:
    """A Python dictionary in a trace is as good as JSON."""
    assert words(repr(YELP)) == YELP_WORDS.splitlines()


def test_a_leafs_source_is_its_key_and_value() -> None:
    """The slice has the key, also for a short array, and nothing of what is around it."""
    text = '{"a": 1, "tags": ["x", "y"], "b": {"c": null}}'
    assert slices(text) == ['"a": 1', '"tags": ["x", "y"]', '"c": null']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"WiFi": "free"}', ["WiFi is free."]),
        ('{"HasTV": true}', ["Has TV: yes."]),
        ('{"is_open": 0}', ["Is open is 0."]),
        ('{"BusinessAcceptsCreditCards": "False"}', ["Business accepts credit cards: no."]),
        ('{"GoodForKids": null}', ["Good for kids is unknown."]),
        ('{"country": "NO", "code": "no"}', ["Country is NO.", "Code is no."]),
        ('{"open": "NO", "wifi": "No"}', ["Open is NO.", "WiFi is not available."]),
        ('{"age limit": "none", "answer": "No"}', ["Age limit is none.", "Answer is No."]),
        ('{"menu": [], "note": ""}', ["Menu is not given.", "Note is not given."]),
        ('{"tags": ["x", 1, true, ""]}', ['Tags: x, 1, true, "".']),
        ('{"geo": {"lat": 1}, "data": {"lat": 2}}', ["Geo: lat is 1.", "Lat is 2."]),
        ('{"_": "x"}', ['"_": "x".']),
        ('{"name": "Acme Inc.", "size": 3}', ["The name is Acme Inc.", "Size is 3 (Acme Inc.)."]),
        ('["a", "b"]', ["a, b."]),
        ('[[1, 2], {}, "x"]', ["1, 2.", "{}.", "x."]),
        ("{}", []),
    ],
)
def test_values_are_worded_by_what_they_are(text: str, expected: list[str]) -> None:
    """Flags, unknowns, blanks, lists and numbers each have their sentence."""
    assert words(text) == expected


def test_each_element_of_an_array_says_its_own_name() -> None:
    """Facts of one record in a list are not taken for another's."""
    text = '[{"title": "A", "price": 1}, {"title": "B", "price": 2}]'
    assert words(text) == [
        "The title is A.",
        "Price is 1 (A).",
        "The title is B.",
        "Price is 2 (B).",
    ]


def test_a_long_array_is_told_element_by_element() -> None:
    """What is too long for one piece of evidence is divided."""
    text = json.dumps({"tags": ["x" * 90, "y" * 90, "z" * 90, "w" * 90]})
    assert slices(text) == [f'"{letter * 90}"' for letter in "xyzw"]
    assert words(text)[0] == f"Tags: {'x' * 90}."


PROSE_VALUE = (
    'It says "free". Café Zoë asks 5 €.\nNobody pays more! Kids pay nothing 😀. ' * 6
).strip()


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_long_string_is_told_sentence_by_sentence(ascii_only: bool) -> None:
    """With its key before the first, its record's name behind each, and the source's own slices."""
    text = json.dumps({"name": "Zoë", "body": PROSE_VALUE}, ensure_ascii=ascii_only)

    told = words(text)[1:]

    assert len(told) == 4 * 6
    assert told[:3] == [
        'Body: It says "free" (Zoë).',
        "Café Zoë asks 5 € (Zoë).",
        "Nobody pays more! (Zoë).",
    ]
    pieces = [json.loads(f'"{piece}"') for piece in slices(text)[2:-1]]
    assert pieces == [one.text for one in segment(PROSE_VALUE)][1:-1]
    assert slices(text)[1].startswith('"body": "It says')


ROW = "the first, which is covered, and the second, which is covered, " * 200


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"body": f"{ROW}. {ROW}"}),
        json.dumps({"body": "é" * 9_000, "other": 1}),
        json.dumps(["a" * 9_000]),
        json.dumps({"number": 10**4_000}),
        f"| name | text |\n|---|---|\n| a | {ROW}. It ends. |",
        f"name,text\na,{'covered ' * 900}\nb,x y z",
        f"Our plans. {ROW}\n\n| name | text |\n|---|---|\n| a | b |",
        "|" + "|".join(f"c{n}" for n in range(900)) + "|\n" + "|-" * 900 + "|\n"
        + ("| " + " | ".join(f"the text of cell {n}" for n in range(900)) + " |\n") * 4,
    ],
    ids=["prose", "escaped", "element", "number", "cell", "csv", "line", "wide"],
)  # fmt: skip
def test_what_is_told_is_bounded(text: str) -> None:
    """A long value is several sentences, none of which outgrows a judge's input."""
    assert_sound(text)
    assert len(words(text)) > 2
    assert max(map(len, words(text))) <= MAX_SENTENCE + 200
    kept = "".join(text[start:end] for start, end, _, _ in render_structured(text) or ())
    assert len(kept) > 0.9 * len(text)


@given(
    st.text(min_size=301) | st.text('ab.é "\\\n😀\ud83d', min_size=301, max_size=3_000),
    st.booleans(),
)
def test_a_long_strings_ranges_hold_whatever_is_escaped_in_it(value: str, ascii_only: bool) -> None:
    """No slice begins or ends inside an escape, and together they are the string."""
    text = json.dumps({"body": value}, ensure_ascii=ascii_only)

    assert_sound(text)
    found = slices(text)
    whole = [found[0].removeprefix('"body": "'), *found[1:]]
    whole[-1] = whole[-1].removesuffix('"')
    read = "".join(json.loads(f'"{piece}"') for piece in whole)
    lost = read.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert "".join(lost.split()) == "".join(
        value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split()
    )


def test_a_key_value_block_is_told_by_line() -> None:
    """Bullets and emphasis are no part of the key, and a stray line stands for itself."""
    text = (
        "About us\nWiFi: no\n- **Price:** $10\n  Has TV: yes\nOpening Hours = 8:0-22:30\nSeats: 5\n"
    )
    assert words(text) == [
        "About us.",
        "WiFi is not available.",
        "Price is $10.",
        "Has TV: yes.",
        "Opening hours is 8:00 to 22:30.",
        "Seats is 5.",
    ]
    assert slices(text)[2:4] == ["- **Price:** $10", "Has TV: yes"]


def test_a_value_of_a_block_that_says_no_is_a_value() -> None:
    """A country, and none of something, are no flags."""
    text = "Country: NO\nCurrency: NOK\nAllergies: none\nWiFi: none\nTV: no"
    assert words(text) == [
        "Country is NO.",
        "Currency is NOK.",
        "Allergies is none.",
        "WiFi is none.",
        "TV is not available.",
    ]


def test_a_markdown_table_is_told_by_row() -> None:
    """Every cell is read with its header, blanks are said, and text around the table is kept."""
    text = (
        "Our plans. They differ.\n\n| Plan | Price | Seats |\n|---|:-:|---|\n"
        "| Basic | $10 | 3 |\n| eTeam | | a\\|b |\n\nAsk us."
    )
    assert words(text) == [
        "Our plans.",
        "They differ.",
        "Plan Basic: price is $10; seats is 3.",
        "Plan eTeam: price is not given; seats is a|b.",
        "Ask us.",
    ]
    assert slices(text)[1:3] == ["They differ.", "| Basic | $10 | 3 |"]
    assert [facts for *_, facts in render_structured(text) or ()][2:4] == [
        (Fact("Basic", "price", "$10"), Fact("Basic", "seats", "3")),
        (Fact("eTeam", "price", ""), Fact("eTeam", "seats", "a|b")),
    ]


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("Model|Price", "X200|$249", "Model X200: price is $249."),
        ("Name|Price", "X200|$249", "X200: price is $249."),
        ("From Bergen to|Duration", "Oslo|7 hours", "From Bergen to Oslo: duration is 7 hours."),
        ("Option|Default", "--workers|4", "Option --workers: default is 4."),
        ("Model|Weight (g)|Price (USD)", "X200|254|249",
         "Model X200: weight is 254 g; price is 249 USD."),
        ("Model|Waterproof|WiFi", "X200|no|yes", "Model X200: is not waterproof; WiFi: yes."),
        ("Feature|Free|Pro", "SSO|✗|✓", "Feature SSO: free: no; pro: yes."),
        ("|Oslo|Rome", "Height|3 m|5 m", "Height: oslo is 3 m; rome is 5 m."),
        ("Year|Winner", "1968|**Sweden**", "Year 1968: winner is Sweden."),
    ],
)  # fmt: skip
def test_a_cell_is_read_with_its_header(header: str, row: str, expected: str) -> None:
    """So is the label of the row; a unit in a header goes to the number, a flag says what it is."""
    bars = "|-" * len(header.split("|"))
    assert words(f"|{header}|\n{bars}|\n|{row}|\n") == [expected]


@pytest.mark.parametrize(("bar", "edge"), [(" | ", "| "), ("\t", "")])
def test_a_long_row_is_split_by_cells_with_its_label_and_headers(bar: str, edge: str) -> None:
    """No part is too long, and none loses the name of a value."""
    names = [f"Field {letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 10]
    header = ["Model", *names]
    row = ["X200", *(f"value {number}" for number in range(len(names)))]
    dashes = [f"{edge}{bar.join(['---'] * len(header))}\n"] if edge else []
    lines = [f"{edge}{bar.join(cells)}\n" for cells in (header, row, ["Y", *row[1:]])]
    text = "".join([lines[0], *dashes, *lines[1:]])

    found = [one for one in render_structured(text) or () if one.words.startswith("Model X200: ")]

    assert len(found) > 2
    assert all(len(one.words) <= MAX_SENTENCE for one in found)
    assert [tuple(fact) for one in found for fact in one.facts] == [
        ("X200", name.lower(), value) for name, value in zip(names, row[1:], strict=True)
    ]
    assert [text[one.start : one.end].split(bar.strip() or bar)[-1].strip() for one in found] == [
        one.facts[-1].value for one in found
    ]


def test_each_sentence_of_a_long_cell_has_its_label_and_header() -> None:
    """The cells beside it stay whole."""
    note = "It is light. " * 200
    text = f"| Model | Notes | Price |\n|---|---|---|\n| X200 | {note}| $249 |\n"

    found = render_structured(text) or ()

    assert [one.words for one in found] == [
        *["Model X200: notes: It is light."] * 200,
        "Model X200: price is $249.",
    ]
    assert {text[one.start : one.end] for one in found} == {"It is light.", "$249"}


def test_a_header_that_is_repeated_is_read_once() -> None:
    """It states nothing."""
    text = "|year|winner|\n|-|-|\n|1968|sweden|\n|year|winner|\n|1970|ghana|"
    assert words(text) == ["Year 1968: winner is sweden.", "Year 1970: winner is ghana."]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("| | Joan Baez |\n|-|-|\n| Born | 1941 |", ["Joan Baez: born is 1941."]),
        ("## X200\n| Field | Value |\n|-|-|\n| weight_g | 254 |\n| Waterproof | no |",
         ["## X200.", "X200: weight is 254 g.", "X200: is not waterproof."]),
        ("It is new.\n\n| Key | Value |\n|-|-|\n| Weight | 254 g |",
         ["It is new.", "Weight is 254 g."]),
        ("Rates\n\n| Weight | Price |\n|-|-|\n| up to 2 kg | $6 |",
         ["Rates.", "Weight up to 2 kg: price is $6."]),
    ],
)  # fmt: skip
def test_a_list_of_properties_has_the_title_in_front(table: str, expected: list[str]) -> None:
    """The title is the second header, or the caption; a sentence before the table is none."""
    assert words(table) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"plan": "Basic", "disk_gb": 50}', ["The plan is Basic.", "Disk is 50 GB (Basic)."]),
        ('{"timeout_s": 20, "level": "info"}', ["Timeout is 20 seconds.", "Level is info."]),
        ('{"trial_days": 14, "users": 5}', ["Trial is 14 days.", "Users is 5."]),
        ('{"waterproof": false}', ["Is not waterproof."]),
        ('{"winter_sports_covered": false}', ["Winter sports are not covered."]),
        ('{"shows_ads": true}', ["Shows ads: yes."]),
    ],
)  # fmt: skip
def test_a_key_with_a_unit_or_a_property_is_told_in_words(text: str, expected: list[str]) -> None:
    """The unit goes to the number, and a flag of a property says it or denies it."""
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    ["Plan,Unit price\nBasic,$10\nPro,$20", "Plan\tUnit price\nBasic\t$10\nPro\t$20\n"],
)
def test_separated_values_are_told_as_a_table(text: str) -> None:
    """Commas and tabs divide cells as bars do."""
    expected = [
        "Plan Basic: unit price is $10.",
        "Plan Pro: unit price is $20.",
    ]
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        PROSE,
        f"{PROSE}\n\n{PROSE}\n{PROSE}",
        CODE,
        f"```python\n{CODE}```",
        "    name: str\n    size: int\n    parts: tuple[str, ...]",
        'FIRST = "one"\nSECOND = "two"',
        "Alice: Hi there, how are you?\nBob: Fine, and you?\nAlice: Good.\nBob: Bye.",
        "Alice: hello\nBob: you made it",
        "Note: The office is closed on Monday.\nAddress: It moved to Main Street.",
        "1. Heat: 200 degrees\n2. Mix: two minutes\n3. Serve.",
        "Step 1: Heat the oven\nStep 2: Mix the flour",
        "- apples\n- pears\n- plums",
        "Hello, world\nGoodbye, moon\nWelcome, stars",
        "March 5, 2020\nApril 6, 2021\nMay 7, 2022",
        json.dumps(YELP)[:-20],
        json.dumps(YELP, indent=2)[:-20],
        "[1] A reference, not a list",
        "[" * 100 + "]" * 100,
        "a | b\nc | d\ne | f",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    """Prose, code, dialogue, lists and broken JSON are not guessed at."""
    assert render_structured(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 100_000,
        '{"a": "' + "\\\\" * 200_000,
        "[" + '"' + "'\"" * 200_000 + '"]',
        "a" + " " * 400_000 + ":",
        "| " * 200_000 + "\n" + "|-" * 200_000 + "\n" + "|\n" * 100,
        f"|{'h' * 200_000}|b|\n|-|-|\n" + "||\n" * 50_000,
        json.dumps({"k" * 200_000: {str(number): 1 for number in range(5_000)}}),
        "a,b\n" + '"' * 200_001 + "\nc,d",
        'a: "' + "\\" * 100 + "\nb = '",
        "\x00\n\x00: 1\nb: 2\nc: 3\nd: 4\ne: 5",
    ],
)
def test_hostile_text_is_survived(text: str) -> None:
    """Size, nesting and repetition cost neither the stack nor more than linear time."""
    assert_sound(text)
    assert sum(len(said) for said in words(text)) <= 400 * len(text)


@given(
    st.text(max_size=200)
    | st.text(alphabet="ab1 :=|-,\t\n\"'{}[].\\u", max_size=200)
    | st.lists(st.sampled_from(["a: ", "b", "|-|-|", "|x|y|", "x,y", "\n", "\t", "[]"])).map(
        "".join
    )
)
def test_ranges_hold_for_any_text(text: str) -> None:
    """Nothing raises, and whatever is rendered has sound ranges and words."""
    assert_sound(text)


@given(
    st.recursive(
        st.sampled_from(["text", "number"]),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=60,
    ),
    st.sampled_from([None, 2]),
)
def test_every_scalar_lies_in_exactly_one_range(shape: object, indent: int | None) -> None:
    """Nothing a record says is lost or told twice."""
    numbers = count(70_001)

    def fill(part: object) -> object:
        if isinstance(part, dict):
            return {key: fill(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [fill(inner) for inner in part]
        return next(numbers) if part == "number" else f"marker{next(numbers)}"

    text = json.dumps({"root": fill(shape)}, indent=indent)
    assert_sound(text)
    for number in range(70_001, next(numbers)):
        assert sum(str(number) in piece for piece in slices(text)) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([None, 2]),
)
def test_ranges_hold_for_any_json(value: object, indent: int | None) -> None:
    """Every record has sound ranges, whatever its keys and values hold."""
    text = json.dumps({"value": value}, indent=indent)
    assert render_structured(text) is not None
    assert_sound(text)
