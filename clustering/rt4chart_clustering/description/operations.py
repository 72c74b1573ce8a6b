"""What can happen to a source's meaning: the operations of a fingerprint, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Old issues keep the version they were made with: a changed rule must not regroup them.
FINGERPRINT_VERSION = "fp2"


class Op(StrEnum):
    """What happened to the source's meaning, in the order in which one is chosen as primary.

    `polarity` is a negation put in or left out, `opposite` a word for its opposite, `direction`
    the same of what rises, falls or compares, `order` what comes before or follows from what,
    `hedge` a possibility or a plan told as a fact or the reverse, `qualifier` a dropped condition,
    `echo` takes from the question what the source lacks, `misplaced` says a word of the source of
    something else, `quality` puts in a word that has an opposite (minor, unknown, public), `term`
    another word. `addition` and `other` say that no rule explains the difference: words of its own,
    and another wording, which any paraphrase has too. Version 1 had the last two, `number`, `date`,
    `entity`, `exclusion`, `polarity`, `scope`, `qualifier` and `echo`.
    """

    NUMBER = "number"
    UNIT = "unit"
    DATE = "date"
    ENTITY = "entity"
    EXCLUSION = "exclusion"
    POLARITY = "polarity"
    DIRECTION = "direction"
    OPPOSITE = "opposite"
    SCOPE = "scope"
    QUALIFIER = "qualifier"
    HEDGE = "hedge"
    ORDER = "order"
    ECHO = "echo"
    MISPLACED = "misplaced"
    QUALITY = "quality"
    TERM = "term"
    ADDITION = "addition"
    OTHER = "other"


class Family(StrEnum):
    """What operations have in common, whatever kind of word they fall on."""

    REPLACED = "replaced"
    NEGATED = "negated"
    REVERSED = "reversed"
    UNLIMITED = "unlimited"
    ADDED = "added"
    UNTOLD = "untold"


OPS = tuple(Op)
POOL = frozenset({Op.ADDITION, Op.OTHER})
FAMILIES = {
    Op.NUMBER: Family.REPLACED,
    Op.UNIT: Family.REPLACED,
    Op.DATE: Family.REPLACED,
    Op.ENTITY: Family.REPLACED,
    Op.MISPLACED: Family.REPLACED,
    Op.QUALITY: Family.REPLACED,
    Op.TERM: Family.REPLACED,
    Op.POLARITY: Family.NEGATED,
    Op.DIRECTION: Family.REVERSED,
    Op.OPPOSITE: Family.REVERSED,
    Op.ORDER: Family.REVERSED,
    Op.EXCLUSION: Family.UNLIMITED,
    Op.SCOPE: Family.UNLIMITED,
    Op.QUALIFIER: Family.UNLIMITED,
    Op.HEDGE: Family.UNLIMITED,
    Op.ECHO: Family.ADDED,
    Op.ADDITION: Family.ADDED,
    Op.OTHER: Family.UNTOLD,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One op that fired: `claimed` stands in the claim, `found` in the source; either may be ""."""

    op: Op
    claimed: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that fired, and the one change that names it."""

    primary: Change
    fired: frozenset[Op]

    @property
    def op(self) -> Op:
        """The primary op."""
        return self.primary.op


def first(changes: list[Change]) -> Change:
    """The change of the highest precedence; of one op, the one that has a counterpart."""
    return min(
        changes,
        key=lambda change: (OPS.index(change.op), not (change.claimed and change.found)),
        default=Change(Op.OTHER),
    )
