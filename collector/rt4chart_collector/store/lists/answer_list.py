"""The list of answers, page by page.

Reading what is in force (FINAL) compares the keys of all rows that it reads, so that a list over
millions of answers does it for the answers of a page alone. A page is made in two steps.
`candidates` reads, in the order of the list, the rows of which any version meets the filter;
then their versions in force are read, and those that meet it no more are dropped. An answer that
meets the filter now has a row that does, so none is missed. In the order by failures it may be a
candidate in several places: it counts in the place that its version in force has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.store.answers.answers import (
    FAILED_COUNT,
    FIRST,
    NO_CLAIM,
    OF_ANSWER_KEYS,
    WorstClaim,
    key_parameters,
    worst_claims,
)
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION, AnswerDecision
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import RowTable, read
from rt4chart_collector.store.lists.answer_filter import AnswerFilter
from rt4chart_collector.store.lists.candidates import (
    AnswerCursor,
    ListCandidate,
    ListPart,
    Order,
    read_candidates,
    sources,
)

# The characters of a text that a list shows.
PREVIEW_CHARACTERS = 280
FOUND_BEFORE = 80  # of them before the words that were found
# Candidates beyond those that a page needs, for those that are dropped.
SPARE = 10
LISTED_ANSWERS = f"""
SELECT {RowTable("rt4chart_verifications", AnswerDecision).select()},
    substringUTF8(Question, 1, {PREVIEW_CHARACTERS}) AS question,
    substringUTF8(Answer, 1, {PREVIEW_CHARACTERS}) AS answer,
    lengthUTF8(Answer) AS characters, Statuses AS statuses, Action AS action,
    Edits AS edits, {{failures}} AS failures{{found}}
FROM rt4chart_verifications FINAL {OF_ANSWER_KEYS} AND {{condition}}
"""  # noqa: S608 - our own names
# Where the first of the searched words is, 0 if none is there; and what stands around it.
FIRST_FOUND = """arrayMin(arrayFilter(at -> at > 0, arrayMap(
    word -> positionCaseInsensitiveUTF8({column}, word), {words:Array(String)})))"""
FOUND = f""",
    toInt32(greatest(toInt64(if(
        ({FIRST_FOUND.replace("{column}", "Answer")} AS in_answer) > 0,
        in_answer,
        {FIRST_FOUND.replace("{column}", "Question")}
    )) - {FOUND_BEFORE}, 1)) AS found_at,
    substringUTF8(if(in_answer > 0, Answer, Question), found_at, {PREVIEW_CHARACTERS}) AS found
"""


@dataclass(frozen=True, slots=True)
class ListedAnswer(AnswerDecision):
    """An answer in a list; `question` and `answer` are their first characters.

    After a search, `found` has the words with what stands around them, of the answer if it has
    them, else of the question; `found_at` is where it begins, from 1.

    `failures` are the claims that make it bad, `worst` is its first contradicted claim, else its
    first baseless, else its first misleading one. `statuses` has the weighted number of claims by
    status, `edits` is JSON.
    """

    question: str
    answer: str
    characters: int
    statuses: Mapping[str, float]
    action: str
    edits: str
    failures: int
    found_at: int = 0
    found: str = ""
    worst: WorstClaim = NO_CLAIM

    @property
    def cursor(self) -> AnswerCursor:
        """The cursor from which the page after it continues."""
        return AnswerCursor(
            self.start_ns, self.trace_id, self.span_id, self.verifier, self.failures
        )


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Some answers in order; `after` is the cursor of the next page, None on the last page."""

    rows: tuple[ListedAnswer, ...]
    after: AnswerCursor | None


def answer_page(
    client: Client,
    selection: AnswerFilter,
    *,
    order: Order = "newest",
    after: AnswerCursor | None = None,
    limit: int = 50,
) -> AnswerPage:
    """At most `limit` answers after a cursor: one row for each verifier with a decision."""
    found: list[ListedAnswer] = []
    for source in sources(selection, order, after):
        found += _rows_of(client, source, selection, after, limit + 1 - len(found))
        if len(found) > limit:
            break
    rows = _with_claims(client, found[:limit], selection)
    return AnswerPage(rows, rows[-1].cursor if len(found) > limit else None)


def _rows_of(
    client: Client,
    source: ListPart,
    selection: AnswerFilter,
    after: AnswerCursor | None,
    limit: int,
) -> Iterator[ListedAnswer]:
    """At most `limit` rows of a source that meet the filter, in its order."""
    number = limit + SPARE
    while limit > 0:
        candidates = read_candidates(client, source, selection, after, number)
        ends = candidates[-1].cursor if len(candidates) == number else None
        rows = _in_force(client, candidates, selection, source.condition)
        places = {source.place(row.cursor): row for row in rows}
        between = [
            places[place]
            for place in sorted(places)
            if (after is None or place > source.place(after))
            and (ends is None or place <= source.place(ends))
        ]
        yield from between[:limit]
        limit -= len(between)
        if ends is None:
            return
        # Few were kept: read more of them at once.
        after, number = ends, 2 * number


def _in_force(
    client: Client, candidates: Sequence[ListCandidate], selection: AnswerFilter, condition: str
) -> list[ListedAnswer]:
    """The versions in force of these answers, of those that meet the filter and the condition."""
    if not candidates:
        return []
    query = (
        LISTED_ANSWERS.replace("{failures}", FAILED_COUNT[selection.counted])
        .replace("{found}", FOUND if selection.words else "")
        .replace("{condition}", f"{selection.condition} AND {condition}")
    )
    parameters = {
        **selection.parameters,
        **selection.scope.parameters,
        **key_parameters(candidates),
        "words": list(selection.words),
    }
    rows = read(client, ListedAnswer, query, parameters, settings=FINAL_PER_PARTITION)
    asked = {one.key for one in candidates}
    return [row for row in rows if (row.start_ns, *row.key, row.verifier) in asked]


def _with_claims(
    client: Client, rows: Sequence[ListedAnswer], selection: AnswerFilter
) -> tuple[ListedAnswer, ...]:
    """The rows with their worst claims."""
    if not rows:
        return ()
    worst = worst_claims(client, rows, selection.counted, order=FIRST, chars=PREVIEW_CHARACTERS)
    return tuple(replace(row, worst=worst.get((*row.key, row.verifier), NO_CLAIM)) for row in rows)
