"""The rows of `rt4chart verify` as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otel_rt4chart.commands.terminal_text import BOLD, DIM, LABEL_COLORS, RED, TerminalStyle
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from otel_rt4chart.verify.criteria.model import CriterionOutcome

_ROW, _VERDICT, _FAILED = 12, 12, 8
_GAP = "  "


class ReportTable:
    """Lines of a table, as the rows come: what failed in an answer stands below its verdict."""

    def __init__(self, style: TerminalStyle) -> None:
        """`style` has the width."""
        self._style = style
        self._count = 0

    def lines(self, row: Mapping[str, Any]) -> Iterator[str]:
        """The lines of one row as `rt4chart verify` writes it, the head before the first."""
        self._count += 1
        if self._count == 1:
            head = _GAP.join(
                (f"{'row':<{_ROW}}", f"{'verdict':<{_VERDICT}}", f"{'failed':>{_FAILED}}", "what")
            )
            yield self._style.styled(head, BOLD)
        name = row.get("id")
        name = one_line(str(f"#{self._count}" if name is None else name), _ROW)
        if "error" in row:
            yield self._line(name, "error", "", "", (RED, BOLD))
            yield from self._style.wrapped(row["error"], _GAP)
            return
        claims = [claim for claim in row["claims"] if claim["label"] != Label.NOT_A_CLAIM]
        failed = [claim for claim in claims if _has_failed(claim)]
        decided = sum(Label(claim["label"]).is_decided for claim in claims)
        label = _label(row)
        told = [_told(claim) for claim in failed] or _undecided(claims)
        told += [f"fails {name}: {reason}" for name, reason in _failed_criteria(row)]
        yield self._line(
            name,
            label.replace("_", " "),
            f"{len(failed)} of {decided}",
            next(iter(told), ""),
            (LABEL_COLORS.get(label, DIM),),
        )
        for words in told[1:]:
            yield self._line("", "", "", words, (DIM,))

    def _line(self, name: str, verdict: str, failed: str, what: str, codes: tuple[str, ...]) -> str:
        start = _GAP.join(
            (
                f"{name:<{_ROW}}",
                self._style.styled(f"{verdict:<{_VERDICT}}", *codes),
                f"{failed:>{_FAILED}}",
            )
        )
        room = self._style.width - (_ROW + _VERDICT + _FAILED + 3 * len(_GAP))
        return f"{start}{_GAP}{one_line(what, max(room, 1))}".rstrip()


def _label(row: Mapping[str, Any]) -> str:
    """The answer's label; one that is entailed and misleads is not called entailed."""
    return (
        "misleading" if row["label"] == Label.ENTAILED and row["misleading_rate"] else row["label"]
    )


def _has_failed(claim: Mapping[str, Any]) -> bool:
    label = Label(claim["label"])
    return label.is_unfaithful or ClaimStatus(claim["status"]).misleads(label)


def _told(claim: Mapping[str, Any]) -> str:
    """Such as "restriction left out: Refunds are paid …"."""
    return f"{ClaimStatus(claim['status']).label}: {claim['text']}"


def _failed_criteria(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names of the criteria that the answer fails, with the reason."""
    for one in row.get("criteria", ()):
        if one["outcome"] == CriterionOutcome.FAIL:
            yield one["name"], one.get("reason", "no reason given")


def _undecided(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Such as "1 undecided: not sure …"."""
    found = [claim for claim in claims if claim["label"] == Label.UNDECIDED]
    return [f"{len(found)} undecided: {found[0]['reason'] or 'no reason given'}"] if found else []
