"""Cases written for training: a passage, and claims that it entails, contradicts or leaves open.

People's labels tell little of who did what, exceptions and the roles of numbers: nearly all of
their wrong claims have other words. `written/*.toml` hold cases in which the words are the same
and the meaning is not, and the other way round; `number_cases` makes those about values.
"""

from __future__ import annotations

import random
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pairs import LABELS, Context, Pair, changed

from otel_rt4chart.verify.core.model import Passage
from otel_rt4chart.verify.text.segment import segment_passages
from written.number_cases import number_cases

WRITTEN, NUMBERS = "written", "numbers"
FOLDER = Path(__file__).parent
POOLS = "pools.toml"
_SLOT = re.compile(r"\{([a-z_]+?)(\d*)\}")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)([a-z])")
# A wrong claim so near to a right one is marked where it differs.
_NEAR = 0.6
_STRANGERS = (0, 0, 1, 2, 3)  # passages of other cases beside one
_HELD_OUT = 10  # one case in so many is only looked at


@dataclass(frozen=True, slots=True)
class WrittenCase:
    """A passage and its claims, with slots such as `{person1}` still in them."""

    name: str
    kind: str
    passage: str
    claims: Mapping[str, tuple[str, ...]]  # by label
    pools: Mapping[str, Sequence[str]]

    @property
    def is_held_out(self) -> bool:
        """True for a case that nothing is fitted on, by its name alone."""
        return zlib.crc32(self.name.encode()) % _HELD_OUT == 0


def read_cases(folder: Path = FOLDER) -> list[WrittenCase]:
    """All cases of the folder; ValueError names the case that has an unknown slot or no claims."""
    pools = tomllib.loads((folder / POOLS).read_text("utf-8"))
    found = []
    for path in sorted(folder.glob("*.toml")):
        if path.name == POOLS:
            continue
        for at, case in enumerate(tomllib.loads(path.read_text("utf-8"))["case"]):
            claims = {label: tuple(case.get(label, ())) for label in LABELS}
            one = WrittenCase(
                f"{path.stem}/{at}", case["kind"], case["passage"], claims,
                pools | case.get("pools", {}),
            )  # fmt: skip
            _check(one)
            found.append(one)
    return found


def _check(case: WrittenCase) -> None:
    texts = [case.passage, *_texts(case.claims)]
    if unknown := {name for text in texts for name, _ in _SLOT.findall(text)} - case.pools.keys():
        raise ValueError(f"{case.name}: expected slots of known pools, got {sorted(unknown)}")
    if not case.claims["entailed"] or not case.claims["contradicted"] + case.claims["baseless"]:
        raise ValueError(f"{case.name}: expected right and wrong claims, got {case.claims}")


def written_pairs(
    cases: Sequence[WrittenCase], fillings: int, chance: random.Random
) -> Iterator[Pair]:
    """Each case filled so many times (once without slots), beside sentences of other cases."""
    filled = []
    for case in cases:
        has_slots = _SLOT.search(case.passage) is not None
        filled += [(case, *_filled(case, chance)) for _ in range(fillings if has_slots else 1)]
    for turn, (case, passage, claims) in enumerate(filled):
        strangers = (chance.choice(filled) for _ in range(chance.choice(_STRANGERS)))
        texts = [passage, *(text for other, text, _ in strangers if other is not case)]
        chance.shuffle(texts)
        name = f"{case.name}/{turn}"
        evidence = dict.fromkeys(_texts(claims), " ".join(texts))
        yield from _labelled(WRITTEN, case.name, name, claims, evidence)


def number_pairs(count: int, chance: random.Random) -> Iterator[Pair]:
    """Pairs about values: so many passages, each with all of its claims.

    A table or an object is read as the judge reads it: its rows that are nearest to the claim.
    """
    for turn, case in enumerate(number_cases(chance, count)):
        claims = {label: getattr(case, label) for label in LABELS}
        context = Context(segment_passages((Passage("", case.passage),)))
        evidence = {text: context.evidence(text) for text in _texts(claims)}
        yield from _labelled(NUMBERS, case.kind, f"{NUMBERS}/{turn}", claims, evidence)


def _filled(case: WrittenCase, chance: random.Random) -> tuple[str, Mapping[str, tuple[str, ...]]]:
    """The passage and the claims with a value in each slot; slots of one pool differ."""
    texts = [case.passage, *_texts(case.claims)]
    slots = sorted({match.group(1, 2) for text in texts for match in _SLOT.finditer(text)})
    values: dict[tuple[str, str], str] = {}
    for pool in sorted({pool for pool, _ in slots}):
        own = [slot for slot in slots if slot[0] == pool]
        drawn = chance.sample(list(case.pools[pool]), len(own))
        values |= dict(zip(own, drawn, strict=True))

    def fill(text: str) -> str:
        found = _SLOT.sub(lambda match: values[match.group(1), match.group(2)], text)
        return _SENTENCE_START.sub(lambda match: match.group()[:-1] + match[1].upper(), found)

    claims = {label: tuple(map(fill, texts)) for label, texts in case.claims.items()}
    return fill(case.passage), claims


def _texts(claims: Mapping[str, Sequence[str]]) -> Iterator[str]:
    return (text for texts in claims.values() for text in texts)


def _labelled(
    dataset: str,
    group: str,
    twin: str,
    claims: Mapping[str, Sequence[str]],
    evidence: Mapping[str, str],
) -> Iterator[Pair]:
    for label, texts in claims.items():
        for text in texts:
            is_wrong = label != "entailed"
            yield Pair(
                dataset, group, twin, text, evidence[text], unfaithful=is_wrong, kind=label,
                marks=_marks(text, claims["entailed"]) if is_wrong else (), twin=twin,
            )  # fmt: skip


def _marks(text: str, right: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
    """Where a wrong claim differs from the right one that is nearest to it; None without one."""
    ratios = [(SequenceMatcher(None, one.split(), text.split()).ratio(), one) for one in right]
    ratio, nearest = max(ratios, default=(0.0, ""))
    return (changed(nearest, text) or None) if ratio >= _NEAR else None
