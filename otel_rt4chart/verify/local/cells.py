"""Claims against single values of structured passages: cells of tables, members of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Clash, Fact, Judgement, Label, Sentence, Slot
from otel_rt4chart.verify.language.agreement import values_agree
from otel_rt4chart.verify.language.dates import contradicts, is_supported_by
from otel_rt4chart.verify.language.negation import parity
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.thesaurus import synonyms
from otel_rt4chart.verify.language.tokens import content, stem
from otel_rt4chart.verify.language.units import UNITS
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.text.fact_words import flag_value

_CONFIDENCE = 0.9
_MAX_FACTS = 5_000  # bounds the search in a passage of single values
_SHORT = 80  # a longer line beside a table is no caption
# Verbs that ask for a value without naming it, and the names of such values.
_ASKED = {
    stem(form): frozenset(map(stem, names.split()))
    for verb, names in {
        "weigh": "weight mass", "cost": "price fee cost rate charge", "take": "duration time",
        "last": "duration length", "measure": "size length height width", "store": "storage",
        "live": "population", "inhabitants": "population", "pay": "price fee", "born": "birth",
        "direct": "director", "write": "writer author",
    }.items()
    for form in (verb, f"{verb}s")
}  # fmt: skip
# Words that join a value with what it is about and say nothing themselves.
_LIGHT_WORDS = """come offer take use get make give run set total equal list amount value last stand
    feature provide hold contain record reach number have trip journey ride product item device
    machine request person people plan model time used"""
_LIGHT = frozenset(stem(form) for word in _LIGHT_WORDS.split() for form in (word, f"{word}s"))
# A claim with one of these is true of many values.
_COMPARISON = re.compile(
    r"\b(?:before|after|until|till|since|than|over|under|above|below|between|within|about|around"
    r"|nearly|almost|roughly|approximately|or|if|when|while|per)\b",
    re.IGNORECASE,
)
_SPLIT_SECOND = re.compile(r"\d:\d\d[.:]\d")
_LIKE = 5  # letters that two forms of one word begin with: "duration", "durable" not


@dataclass(frozen=True, slots=True)
class _Cell:
    """A value with the stems of its parts; `around` are the words beside it in its sentence."""

    sentence: Sentence
    fact: Fact
    subject: frozenset[str]
    name: frozenset[str]
    around: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Finding:
    """A cell that settles a claim, and the words of the claim that differ; "" where none does."""

    cell: _Cell
    slot: Slot
    claimed: str = ""


class CellIndex:
    """The single values of a context, for claims about one of them."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        """Read the values of the sentences that have any."""
        self._cells = tuple(_read_cells(sentences))

    def judge(self, claim: Slots) -> Judgement | None:
        """Entailed or contradicted, where the claim is about one value and nothing else."""
        scope = {word.norm for word in claim.scope} - {"plan", "plans"}  # nouns here
        is_open = scope or _COMPARISON.search(claim.text)
        if not self._cells or is_open or not claim.content:
            return None
        found = self._find(claim)
        if found is None:
            return None
        fact, index = found.cell.fact, (found.cell.sentence.index,)
        told = f"{fact.name} of {fact.subject}" if fact.subject else fact.name
        if not found.claimed:
            return Judgement(Label.ENTAILED, index, _CONFIDENCE, f"{told}: {fact.value}")
        return Judgement(
            Label.CONTRADICTED,
            index,
            _CONFIDENCE,
            f"{told}: {fact.value}, not {found.claimed}",
            (Clash(found.slot, found.claimed, fact.value),),
        )

    def _find(self, claim: Slots) -> _Finding | None:
        record = self._record(claim)
        cell = _asked_cell(claim, record)
        if cell is None or not _has_identifiers(claim, cell):
            return None
        if (is_set := flag_value(cell.fact.name, cell.fact.value)) is not None:
            return _compare_flag(claim, cell, is_set=is_set)
        if claim.denials:
            return None
        return (
            _compare_number(claim, cell)
            or _compare_date(claim, cell)
            or _compare_words(claim, cell, self._column(cell))
        )

    def _record(self, claim: Slots) -> list[_Cell]:
        """The cells of the one thing that the claim names; none where it names two or no thing."""
        named = {
            cell.subject
            for cell in self._cells
            if cell.subject and cell.subject <= claim.positions.keys()
        }
        longest = [one for one in named if not any(one < other for other in named)]
        if not longest and any(cell.subject for cell in self._cells):
            longest = list({cell.subject for cell in self._cells if _is_described(claim, cell)})
        elif not longest:
            return list(self._cells)
        return (
            [cell for cell in self._cells if cell.subject in longest] if len(longest) == 1 else []
        )

    def _column(self, cell: _Cell) -> Iterator[_Cell]:
        """The cells with the same name in other rows of the same passage."""
        for other in self._cells:
            is_same = other.fact.name == cell.fact.name and other.subject != cell.subject
            if is_same and other.sentence.passage_id == cell.sentence.passage_id:
                yield other


def _read_cells(sentences: Sequence[Sentence]) -> Iterator[_Cell]:
    captions: dict[str, set[str]] = {}
    for one in sentences:
        if not one.facts and len(one.text) <= _SHORT:
            captions.setdefault(one.passage_id, set()).update(content(one.text))
    read = 0
    for one in sentences:
        read += len(one.facts)
        if read > _MAX_FACTS:
            return
        about = captions.get(one.passage_id, set())
        for fact in one.facts:
            label = frozenset(content(_label(one, fact)))
            subject = frozenset(content(fact.subject))
            # "1" alone names nothing, "game 1" does.
            is_number = not any(letter.isalpha() for one in subject for letter in one)
            yield _Cell(
                one,
                fact,
                label if subject and is_number else subject,
                frozenset(content(fact.name)),
                label | about,
            )


def _label(sentence: Sentence, fact: Fact) -> str:
    """The words of a sentence that are about this value: of a row, its label."""
    if len(sentence.facts) == 1:
        return sentence.reading
    end = sentence.reading.find(fact.subject) + len(fact.subject) if fact.subject else 0
    return sentence.reading[: max(0, end)]


def _is_described(claim: Slots, cell: _Cell) -> bool:
    """True where the claim has the words of the cell, and so is about its row."""
    words = content(cell.fact.value).keys() - _LIGHT
    is_text = any(one.isalpha() and len(one) > _LIKE for one in words)
    return is_text and words <= claim.positions.keys()


def _asked_cell(claim: Slots, record: Sequence[_Cell]) -> _Cell | None:
    """The one cell whose name the claim has, else the one with the unit of the claim's number."""
    named = [cell for cell in record if cell.name and _has_words(claim, cell.name)]
    most = max((len(cell.name) for cell in named), default=0)
    found = [cell for cell in named if len(cell.name) == most]
    if not found:
        found = [cell for cell in record if _has_unit(claim, cell)]
    is_one = len({(cell.fact.name, cell.fact.value) for cell in found}) == 1
    return found[0] if is_one and _is_all(claim, found[0], record) else None


def _has_words(claim: Slots, stems: Iterable[str]) -> bool:
    return all(any(_is_like(word.stem, one) for word in claim.words) for one in stems)


def _is_like(word: str, name: str) -> bool:
    if word == name or name in synonyms(word) or name in _ASKED.get(word, ()):
        return True
    shared = next(
        (at for at, (a, b) in enumerate(zip(word, name, strict=False)) if a != b),
        min(len(word), len(name)),
    )
    return shared >= max(_LIKE, 0.7 * max(len(word), len(name)))


def _is_all(claim: Slots, cell: _Cell, record: Sequence[_Cell]) -> bool:
    """True where the claim has no word that is not of the cell, its value or its label."""
    known = cell.subject | cell.around | cell.name | content(cell.fact.value).keys()
    known |= {
        one for other in record if _is_described(claim, other) for one in content(other.fact.value)
    }
    counted = {at for one in claim.quantities for at in range(one.start, one.unit_end)}
    counted |= {at for one in claim.moments for at in range(one.start, one.end)}
    return all(
        word.start in counted
        or word.stem in _LIGHT
        or any(_is_like(word.stem, one) for one in known)
        or any(_is_like(one, word.stem) for one in cell.name)
        for word in claim.words
    )


def _own_quantities(claim: Slots, cell: _Cell) -> list[Quantity]:
    """The claim's quantities that are not part of what the cell is about."""
    spans = [
        (word.start, word.end)
        for word in claim.words
        if word.stem in cell.subject and word.stem not in content(cell.fact.value)
    ]
    return [one for one in claim.quantities if (one.start, one.end) not in spans]


def _cell_quantity(cell: _Cell) -> Quantity | None:
    """The number that the value is; None for any other value."""
    found = read_slots(cell.fact.value).quantities
    return found[0] if len(found) == 1 else None


def _has_unit(claim: Slots, cell: _Cell) -> bool:
    own, theirs = _own_quantities(claim, cell), _cell_quantity(cell)
    return (
        len(own) == 1
        and theirs is not None
        and own[0].unit in UNITS
        and own[0].base[0] == theirs.base[0]
    )


def _has_identifiers(claim: Slots, cell: _Cell) -> bool:
    """True where the line has all identifiers of the claim: the words of one may be in another."""
    told = {one.key for one in read_slots(cell.sentence.reading).identifiers}
    return all(one.key in told for one in claim.identifiers)


def _compare_number(claim: Slots, cell: _Cell) -> _Finding | None:
    own, theirs = _own_quantities(claim, cell), _cell_quantity(cell)
    if len(own) != 1 or theirs is None or claim.moments:
        return None
    one = own[0]
    if {one.bound, theirs.bound} != {"exact"}:
        return None
    are_known = {one.unit, theirs.unit} <= UNITS.keys()
    if are_known and one.base[0] != theirs.base[0]:
        return None
    if values_agree(one, theirs):
        return _Finding(cell, "number")
    return _Finding(cell, "number", claim.text[one.start : one.unit_end].strip())


def _compare_date(claim: Slots, cell: _Cell) -> _Finding | None:
    theirs = read_slots(cell.fact.value).moments
    if _SPLIT_SECOND.search(cell.fact.value):
        return None
    own = [
        one
        for one in claim.moments
        if not cell.subject & content(claim.text[one.start : one.end]).keys()
    ]
    if len(own) != 1 or len(theirs) != 1 or _own_quantities(claim, cell):
        return None
    if is_supported_by(own[0], theirs[0]):
        return _Finding(cell, "date")
    if contradicts(own[0], theirs[0]):
        return _Finding(cell, "date", claim.text[own[0].start : own[0].end])
    return None


def _compare_flag(claim: Slots, cell: _Cell, *, is_set: bool) -> _Finding | None:
    """A claim that has or denies what the flag is about."""
    if claim.quantities and _own_quantities(claim, cell):
        return None
    denied = parity(claim.denials)
    about = [
        at for at in claim.content if any(_is_like(claim.tokens[at].stem, one) for one in cell.name)
    ]
    denials = {denied.get(at, False) for at in about}
    if len(denials) != 1:
        return None
    if denials.pop() != is_set:
        return _Finding(cell, "negation")
    first, last = claim.tokens[about[0]], claim.tokens[about[-1]]
    words = claim.text[first.start : last.end]
    return _Finding(cell, "negation", words if not is_set else f"“not {words}”")


def _compare_words(claim: Slots, cell: _Cell, column: Iterable[_Cell]) -> _Finding | None:
    """The claim's other words are of the value; or of another row's value and of none of this."""
    is_valued = claim.moments or _own_quantities(claim, cell)
    if is_valued or not cell.name or not _has_words(claim, cell.name):
        return None
    value = content(cell.fact.value).keys()
    said = {word.stem for word in claim.words} - cell.subject
    if said & value:
        return _Finding(cell, "term") if _is_value_said(said, cell) else None
    for other in column:
        theirs = content(other.fact.value).keys()
        if theirs and theirs <= said and not theirs & value:
            return _Finding(cell, "term", other.fact.value)
    return None


def _is_value_said(said: Set[str], cell: _Cell) -> bool:
    parts = re.split(r"\s*[;,/]\s*", cell.fact.value)
    return any(stems and stems <= said for stems in (content(part).keys() for part in parts))
