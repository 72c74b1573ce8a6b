"""Parses replies of models: JSON Schemas, tolerant parsing, checks of entries, and judgements."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.core.text import find_phrase
from otel_rt4chart.verify.core.model import (
    ClaimKind,
    Clash,
    DraftClaim,
    Judgement,
    Label,
    Sentence,
    Slot,
)
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.llm.conversation import LABEL_ODDS, ParsedReply
from otel_rt4chart.verify.llm.prompt import (
    LabelSet,
    Prompt,
    PromptMessage,
    instructions,
    quoted,
)

_LABELS = {
    Label.ENTAILED: "entailed entailment entails supported supports support grounded yes true",
    Label.CONTRADICTED: "contradicted contradiction contradicts refuted refutes conflict false",
    Label.BASELESS: "baseless unsupported neutral nic not_in_context not_supported notenoughinfo "
    "not_enough_info none unverifiable not_grounded ungrounded",
}
_BY_WORD = {word: label for label, words in _LABELS.items() for word in words.split()}
_DECODER = json.JSONDecoder()
_START = re.compile(r"[{\[]")
# Both bound the time that a hostile or broken reply can take.
_MOST_STARTS = 2_000  # positions at which parsing is attempted
_MOST_WASTED = 1_000_000  # characters parsed without a result
_LONGEST_NUMBER = 32


class ListedObjects(NamedTuple):
    """The entries that a reply lists; `is_whole` where the list is complete."""

    items: list[Mapping[str, Any]]
    is_whole: bool


def objects(text: str, key: str) -> list[Mapping[str, Any]]:
    """The objects of the last list under `key`, anywhere in the reply."""
    return listed(text, key).items


def listed(text: str, key: str, *, is_cut: bool = False) -> ListedObjects:
    """The objects of the last list under `key`; earlier lists are drafts and do not count.

    Prose and code fences around the list, and a list without the key, are accepted. Where no list
    is complete, single objects count. `is_cut` says that the reply ran into its limit: a complete
    list with more words after it was then not the model's final answer.
    """
    openings = [match.end() for match in re.finditer(rf'"{key}"\s*:\s*(?=\[)', text)]
    opening = openings[-1] if openings else -1
    last: tuple[int, list[object]] | None = None
    parts: list[Mapping[str, Any]] = []
    is_torn = is_cut
    for start, end, value in _values(text, max(opening, 0)):
        if isinstance(value, dict):
            parts.append(value)
        elif not isinstance(value, list):
            is_torn = True
        elif start == opening or (
            (last or opening < 0) and any(isinstance(one, dict) for one in value)
        ):
            last = end, value
    if last is None:
        return ListedObjects(parts, is_whole=bool(parts) and not is_torn)
    end, items = last
    if is_cut and re.search(r"\w", text[end:]):
        return ListedObjects([], is_whole=False)
    found: list[Mapping[str, Any]] = [one for one in items if isinstance(one, dict)]
    return ListedObjects(found, is_whole=len(found) == len(items))


def _values(text: str, at: int) -> Iterator[tuple[int, int, object]]:
    """Each object and list from `at` on, with its range; None for one that cannot be parsed."""
    wasted = 0
    for _ in range(_MOST_STARTS):
        if (found := _START.search(text, at)) is None:
            return
        start, at = found.span()
        value: object = None
        try:
            value, at = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            wasted += error.pos - start
        except (ValueError, RecursionError):  # a huge number or too deep a nesting
            wasted = _MOST_WASTED
        yield start, at, value
        if wasted >= _MOST_WASTED:
            return


def label_of(value: object) -> Label | None:
    """The label that a model's word stands for; None where it stands for none."""
    if not isinstance(value, str):
        return None
    return _BY_WORD.get(re.sub(r"[\s-]+", "_", value.strip().lower().strip(".\"'")))


def number_of(value: object) -> int | None:
    """A number, also written as text, such as "3", "[3]" or "s3"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER:
        match = re.fullmatch(r"\W*[a-zA-Z]{0,8}\W*(\d{1,6})\W*", value)
        return int(match.group(1)) if match else None
    return None


def numbers_of(value: object) -> tuple[int, ...]:
    """The numbers of a list, or a single number, each once; anything else is left out."""
    listed: Sequence[object] = value if isinstance(value, list) else [value]
    found = (number_of(one) for one in listed)
    return tuple(dict.fromkeys(number for number in found if number is not None))


_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
_KIND = {"type": "string", "enum": list(get_args(ClaimKind))}
_LABEL = {"type": "string", "enum": ["entailed", "contradicted", "baseless"]}
_NUMBERS = {"type": "array", "items": _INTEGER}
_SPLIT = {"sentence": _INTEGER, "claim": _TEXT, "type": _KIND, "is_claim": {"type": "boolean"}}
_JUDGED = {"label": _LABEL, "sentences": _NUMBERS, "claimed": _TEXT, "found": _TEXT}


class Schema(NamedTuple):
    """A schema with the name under which an endpoint caches it."""

    name: str
    json: Mapping[str, Any]


def _list(key: str, properties: Mapping[str, Any]) -> Schema:
    item = _object(properties)
    return Schema(f"rt4chart_{key}", _object({key: {"type": "array", "items": item}}))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


SENTENCE_CLAIMS = _list("claims", _SPLIT)
HOLISTIC_CLAIMS = _list("claims", {"claim": _TEXT, "type": _KIND})
VERDICTS = _list("verdicts", {"claim": _INTEGER, **_JUDGED})
SELECTIONS = _list("verdicts", {"claim": _INTEGER, "sentences": _NUMBERS})
REVISIONS = _list("revisions", {"answer": _TEXT})
_OUTCOME = {"type": "string", "enum": ["pass", "fail", "unsure"]}
_OF_CRITERION = {"criterion": _INTEGER, "applies": {"type": "boolean"}, "verdict": _OUTCOME}
CRITERION_VERDICTS = _list("verdicts", {**_OF_CRITERION, "quote": _TEXT, "reason": _TEXT})
AUDIT = _list("claims", {**_SPLIT, **_JUDGED})
_CARD_LABEL = {"type": "string", "enum": ["supported", "unsupported", "contradicted"]}
_CARD_CLAIM = _object({"text": _TEXT, "label": _CARD_LABEL, "evidence_phrase": _TEXT})
CARD = Schema(
    "rt4chart_card",
    _object(
        {
            "claims": {"type": "array", "items": _CARD_CLAIM},
            "hallucination_rate": {"type": "number"},
            "decision_basis": _TEXT,
        }
    ),
)
_TWO = {"type": "string", "enum": ["grounded", "not_grounded"]}


def with_two_labels(schema: Schema) -> Schema:
    """The same schema, where a claim is grounded or not."""

    def changed(value: Any) -> Any:  # noqa: ANN401 - any part of a schema
        if isinstance(value, dict):
            is_label = value in (_LABEL, _CARD_LABEL)
            return _TWO if is_label else {key: changed(part) for key, part in value.items()}
        return value

    return Schema(f"{schema.name}_two", changed(schema.json))


# RT4CHART, section 4: seed 42 and temperature 0. Endpoints still vary a little between runs.
SEED = 42
Reader = Callable[[Mapping[str, Any], int], object]  # a value, or a problem as a str
_KINDS = frozenset(get_args(ClaimKind))
FROM_ONE = "claims and sentences are numbered from 1: there is no 0"
_REPLY_TOKENS = 400  # the output tokens that any reply may need beside its entries


def entry_from(item: Mapping[str, Any], claim: str) -> dict[str, Any]:
    """A claim in the form in which it is cached."""
    kind = item.get("type")
    return {
        "claim": " ".join(claim.split()),
        "type": kind if kind in _KINDS else "attribute",
        "is_claim": item.get("is_claim") is not False,
    }


def counts_from_zero(items: Sequence[Mapping[str, Any]], key: str) -> bool:
    """True where a claim, sentence or evidence has the number 0: all numbers may be one too low.

    A baseless claim has no evidence, so a 0 there means nothing.
    """
    return any(
        number_of(item.get(key)) == 0
        or (label_of(item.get("label")) is not Label.BASELESS and 0 in _numbers(item))
        for item in items
    )


def verdicts_from(
    text: str, units: Sequence[int], sentences: int, read: Reader, *, is_cut: bool
) -> ParsedReply:
    """One value for each claim, by its number, or by its position where no entry has a number."""
    items = listed(text, "verdicts", is_cut=is_cut).items
    if counts_from_zero(items, "claim"):
        return ParsedReply({}, (FROM_ONE,))
    numbers = [number_of(item.get("claim")) for item in items]
    if not any(numbers) and len(items) == len(units):
        numbers = [unit + 1 for unit in units]
    found: dict[int, Any] = {}
    problems: list[str] = []
    for number, item in zip(numbers, items, strict=True):
        unit = -1 if number is None else number - 1
        if unit not in units:
            continue
        value = read(item, sentences)
        if isinstance(value, str):
            problems.append(f"claim {number}: {value}")
        elif without_confidence(found.setdefault(unit, value)) != without_confidence(value):
            problems.append(f"claim {number} has two verdicts")
            found[unit] = None
    found = {unit: value for unit, value in found.items() if value is not None}
    lacking = [str(unit + 1) for unit in units if unit not in found]
    if lacking:
        problems.append(f"verdicts are missing for the claims {', '.join(lacking)}")
    return ParsedReply(found, tuple(problems))


def verdict_from(
    item: Mapping[str, Any], sentences: int, labels: LabelSet = "three"
) -> dict[str, Any] | str:
    """A verdict in the form in which it is cached; a problem with it as a str.

    With two labels, what is contradicted is not grounded like all else.
    """
    label = label_of(item.get("label"))
    if labels == "two" and label is Label.CONTRADICTED:
        label = Label.BASELESS
    if label is None:
        label_text = item.get("label")
        shown = quoted(label_text[:40]) if isinstance(label_text, str) else "that is no text"
        return f"the label {shown} is none of the three"
    known = [] if label is Label.BASELESS else _known(item, sentences)
    claimed, against = item.get("claimed"), item.get("found")
    odds = item.get(LABEL_ODDS)
    return {
        "label": label.value,
        "sentences": known,
        "claimed": claimed if isinstance(claimed, str) else "",
        "found": against if isinstance(against, str) else "",
        "confidence": odds if isinstance(odds, float) and 0 <= odds <= 1 else None,
    }


def without_confidence(value: object) -> object:
    """A cached value as it is compared: the same verdict may come with another probability."""
    return {**value, "confidence": None} if isinstance(value, dict) else value


def selection_from(item: Mapping[str, Any], sentences: int) -> list[int] | str:
    """A selection in the form in which it is cached; a problem with it as a str."""
    return _known(item, sentences) if "sentences" in item else "it names no list of sentences"


def _known(item: Mapping[str, Any], sentences: int) -> list[int]:
    return [n for n in _numbers(item) if 1 <= n <= sentences]


def _numbers(item: Mapping[str, Any]) -> tuple[int, ...]:
    return numbers_of(item.get("sentences"))


def build_prompt(
    name: str,
    user: str,
    schema: Schema,
    output_tokens: int,
    seed: int = SEED,
    labels: LabelSet = "three",
) -> Prompt:
    """The named instructions, then the material; `output_tokens` are those of the entries."""
    schema = schema if labels == "three" else with_two_labels(schema)
    return Prompt(
        (PromptMessage("system", instructions(name, labels)), PromptMessage("user", user)),
        schema.name,
        schema.json,
        _REPLY_TOKENS + output_tokens,
        seed,
        asks_odds='"label"' in json.dumps(schema.json),
    )


def judgement_from(value: object, claim: DraftClaim, sentences: Sequence[Sentence]) -> Judgement:
    """The judgement of one claim; a failure, or a value that is no verdict, is undecided."""
    if not claim.is_claim:
        return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
    if not isinstance(value, dict) or "label" not in value:
        reason = str(value) if isinstance(value, JudgeError) else "no verdict"
        return Judgement(Label.UNDECIDED, reason=reason)
    named = [sentences[number - 1] for number in value["sentences"]]
    clashes = _confirmed_clashes(value, claim, named)
    return Judgement(
        Label(value["label"]),
        tuple(sentence.index for sentence in named),
        confidence=value.get("confidence"),
        reason=_clash_reason(clashes),
        clashes=clashes,
    )


def is_unanimous(ballots: Sequence[Judgement]) -> bool:
    """True where all votes have the same label."""
    return len({ballot.label for ballot in ballots}) < 2


def elect(ballots: Sequence[Judgement]) -> Judgement:
    """The first judgement with the majority's label; its confidence is the majority's share.

    Undecided votes do not count. Without a majority the claim is undecided.
    """
    cast = [ballot for ballot in ballots if ballot.label is not Label.UNDECIDED]
    if not cast:
        return ballots[0]
    (label, count), *_ = Counter(ballot.label for ballot in cast).most_common()
    if 2 * count <= len(cast):
        labels = ", ".join(ballot.label for ballot in cast)
        return Judgement(Label.UNDECIDED, reason=f"votes without a majority: {labels}")
    winner = next(ballot for ballot in cast if ballot.label is label)
    return replace(winner, confidence=count / len(cast)) if len(cast) > 1 else winner


def _confirmed_clashes(
    value: dict[str, object], claim: DraftClaim, named: Sequence[Sentence]
) -> tuple[Clash, ...]:
    """The clash that the model names, where claim and evidence really have these words."""
    claimed, found = str(value.get("claimed") or ""), str(value.get("found") or "")
    if value["label"] == Label.ENTAILED or not _contains_words(claimed, claim.text):
        return ()
    is_found = any(_contains_words(found, sentence.reading) for sentence in named)
    return (Clash(_slot_of(claimed), claimed.strip(), found.strip() if is_found else ""),)


def _contains_words(words: str, text: str) -> bool:
    return find_phrase(normalized_phrase(text), normalized_phrase(words)) >= 0


def normalized_phrase(text: str) -> str:
    """A copied phrase without what copies differ in: case, spaces, marks around it."""
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'“”")


def _slot_of(words: str) -> Slot:
    """The kind of value that the words are."""
    slots = read_slots(words)
    if slots.moments:
        return "date"
    if slots.quantities:
        return "number"
    if slots.denials or words.strip().lower() in ("not", "no", "never"):
        return "negation"
    if any(one.kind in ("universal", "partial") for one in slots.scope):
        return "quantifier"
    if slots.scope:
        return "qualifier"
    return "name" if words[:1].isupper() else "term"


def _clash_reason(clashes: Sequence[Clash]) -> str:
    return "; ".join(
        f"“{one.claimed}” in the answer, “{one.found}” in the passage"
        if one.found
        else f"not in the passages: “{one.claimed}”"
        for one in clashes
    )
