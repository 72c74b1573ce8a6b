"""Which span says what the user read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence

from otel_rt4chart.spans.exchange.tree import CHECKS, RETRIEVAL, TURN_KINDS, Tree
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.view import Kind, View
from otel_rt4chart.spans.reading.texts import is_data, plain

MAX_DEPTH = 12
# The least share of a text that one generation must be for the text to be taken as its output.
SHARE = 0.5
# The characters from which on a turn's output does not stand in a generation's by chance.
LEAST = 20
FORM = "[[ ## "


def answers(tree: Tree) -> dict[str, View]:
    """The answer of each turn, by the id of the turn's span.

    Generations under a retrieval are query rewrites, those under an evaluation or guardrail its
    own, and those that only call a tool are steps: none of them is an answer. Of the others

    1. one without text, or with data, gives way to one with text that stands under it, and a
       failed one to any with text: they are one call, or one that was made again;
    2. the turn's own output decides: the generation that it equals, else one that it holds as a
       value or of which it is for the most part made;
    3. else the last one to end is the answer.

    Where no generation of a turn has text, and a retrieval stands under the turn, what the turn's
    span says itself is the answer: not every framework's generations are traced. Data, or what was
    found and no more, is none.
    """
    said: defaultdict[str, list[View]] = defaultdict(list)
    retrieved: defaultdict[str, list[View]] = defaultdict(list)
    for one in tree:
        turn = tree.turn(one).span.span_id
        if one.kind is Kind.LLM and not one.calls_tools_only and not _is_aside(one, tree):
            said[turn].append(one)
        elif is_retrieval(one) and not tree.is_under(one, CHECKS):
            retrieved[turn].append(one)
    found = {turn: _answer(ones, tree) for turn, ones in said.items()}
    for name, searches in retrieved.items():
        whole = tree.turn(searches[0])
        if _is_silent(found.get(name)) and _speaks_itself(whole, searches, tree):
            found[name] = whole
    return found


def read_by_user(answer: View, turn: View) -> str:
    """The answer's text: of what was generated, the part that the turn put out.

    A chain may take the reasoning or the fields of a form off it. A word of it may stand there by
    chance, but in a form.
    """
    said, whole = plain(turn.output), plain(answer.output)
    is_part = said != whole and said in whole and not is_data(turn.output)
    is_meant = len(said) >= LEAST or FORM in whole or is_data(answer.output)
    return turn.output.strip() if said and is_part and is_meant else answer.output


def is_retrieval(one: View) -> bool:
    """True for what looks things up: retrievers, rerankers, and tools on a data store."""
    return one.kind in RETRIEVAL or (one.kind is Kind.TOOL and one.is_datastore)


def _is_aside(one: View, tree: Tree) -> bool:
    return tree.is_under(one, (*RETRIEVAL, *CHECKS))


def _is_silent(answer: View | None) -> bool:
    return answer is None or not answer.output.strip()


def _speaks_itself(turn: View, searches: Sequence[View], tree: Tree) -> bool:
    """True where the turn's output is an answer: a search alone gives back what it found."""
    said = plain(turn.output)
    if (
        not said
        or is_data(turn.output)
        or turn.kind not in (*TURN_KINDS, Kind.NONE)
        or tree.is_under(turn, CHECKS)
    ):
        return False
    found = {plain(one.text) for search in searches for one in search.documents}
    return sum(len(text) for text in found if text in said) < SHARE * len(said)


def _answer(generations: Sequence[View], tree: Tree) -> View:
    turn = tree.turn(generations[0])
    spoken = [one for one in generations if one.output.strip()]
    above = {
        parent.span.span_id
        for one in spoken
        if not is_data(one.output)
        for parent in tree.above(one)
    }
    left = [one for one in generations if not _gives_way(one, above, bool(spoken))]
    said = [] if turn.kind is Kind.LLM else _leaves(turn.output)
    ranked = [(_rank(one, said), len(one.output), one) for one in left]
    best = max(ranked, key=lambda row: (row[0], row[1] if row[0] in (1, 2) else 0, *_ended(row[2])))
    return best[2]


def _gives_way(one: View, above: Container[str], is_any_spoken: bool) -> bool:
    """Whether another one, under it or made again, says what this one does not."""
    if one.output.strip() and not is_data(one.output):
        return False
    is_failed = one.span.status == "Error" and not one.output.strip() and is_any_spoken
    return one.span.span_id in above or is_failed


def _ended(one: View) -> tuple[int, int, str]:
    return (one.span.end_ns, one.span.start_ns, one.span.span_id)


def _rank(one: View, said: Sequence[str]) -> int:
    """How the turn's output holds this one: 3 as a whole, 2 as a value, 1 in part, 0 not."""
    text = plain(one.output)
    if not said or not text:
        return 0
    if text == said[0]:
        return 3
    if text in said[1:]:
        return 2
    return int(any(text in whole and len(text) >= SHARE * len(whole) for whole in said))


def _leaves(output: str) -> list[str]:
    """A turn's output, and, where it is JSON, each of the texts in it."""
    inside = values.opened(output).value
    texts = _texts(inside, 0) if isinstance(inside, Mapping | list) else ()
    return [plain(text) for text in (output, *texts) if text.strip()]


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < MAX_DEPTH and isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner, depth + 1)
