"""A model for tests and benchmarks: it reads a judge's prompts and answers what it was told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.decompose.rules import decompose
from tests.endpoint_server import Answer, Seen, text

_LINE = re.compile(r'^(\d+)\. (".*")$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Truth:
    """A claim's label; sentences that hold one of the `pieces` are its evidence."""

    label: str
    pieces: tuple[str, ...] = ()
    claimed: str = ""
    found: str = ""


Split = Callable[[str], Sequence[str]]
Judge = Callable[[str, Sequence[str]], Truth]


def by_rule(sentence: str) -> list[str]:
    """The sentence's claims as the rules cut them."""
    return [d.text for d in decompose([Sentence(0, 0, len(sentence), sentence)]) if d.is_claim]


@dataclass(frozen=True, slots=True)
class Oracle:
    """Called with a request, it answers like a model that makes no mistake.

    `truths` are looked up by claim, `judge` is asked for the others; a truth whose pieces do not
    stand in the sentences shown is baseless there, unless it has none.
    """

    truths: Mapping[str, Truth] = field(default_factory=dict)
    split: Split = by_rule
    judge: Judge = lambda claim, sentences: Truth("baseless")

    def __call__(self, seen: Seen) -> Answer:
        """The reply to a prompt, told apart by the JSON that its instructions ask for."""
        return text(json.dumps(self.reply(seen)))

    def reply(self, seen: Seen) -> dict[str, Any]:
        """The reply as a value, for scripts that spoil it."""
        if "Split these sentences:" in seen.user:
            return {"claims": self._claims(seen.user)}
        if "Audit these:" in seen.user:
            return {"claims": self._audit(seen.user)}
        if seen.user.startswith("Answer:"):
            whole = json.loads(seen.user.removeprefix("Answer: "))
            return {"claims": [{"claim": c, "type": "attribute"} for c in self.split(whole)]}
        told, _, asked = seen.user.partition("\nClaims:\n")
        sentences = [text for _, text in lines(told)]
        return {"verdicts": [self._verdict(n, claim, sentences) for n, claim in lines(asked)]}

    def _claims(self, user: str) -> list[dict[str, Any]]:
        texts = dict(lines(user))
        wanted = map(int, user.rpartition("sentences: ")[2].split(", "))
        return [
            {"sentence": n, "claim": claim, "type": "attribute", "is_claim": True}
            for n in wanted
            for claim in self.split(texts[n])
        ]

    def _audit(self, user: str) -> list[dict[str, Any]]:
        told, _, rest = user.partition("Sentences of the answer:\n")
        sentences = [text for _, text in lines(told)]
        texts = dict(lines(rest))
        wanted = map(int, user.rpartition("Audit these: ")[2].split(", "))
        return [
            {"sentence": n, "type": "attribute", "is_claim": True}
            | self._verdict(n, claim, sentences)
            | {"claim": claim}
            for n in wanted
            for claim in self.split(texts[n])
        ]

    def _verdict(self, number: int, claim: str, sentences: Sequence[str]) -> dict[str, Any]:
        truth = self.truths.get(claim) or self.judge(claim, sentences)
        held = [
            n
            for n, sentence in enumerate(sentences, start=1)
            if any(piece in sentence for piece in truth.pieces)
        ]
        is_whole = {p for p in truth.pieces if any(p in s for s in sentences)} == {*truth.pieces}
        label = truth.label if held and is_whole else "baseless"
        return {
            "claim": number,
            "label": label,
            "sentences": held if label != "baseless" else [],
            "claimed": truth.claimed,
            "found": truth.found,
        }


def lines(section: str) -> list[tuple[int, str]]:
    """The numbered, quoted lines of a prompt's section."""
    return [(int(number), json.loads(quoted)) for number, quoted in _LINE.findall(section)]
