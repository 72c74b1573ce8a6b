"""A model for tests that judges criteria: it answers each instruction as it was told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.endpoint_server import Answer, Seen, text

_LINE = re.compile(r'^(\d+)\. ("(?:[^"\\]|\\.)*")', re.MULTILINE)
Said = Mapping[str, Any]
PASS: Said = {"verdict": "pass", "quote": "", "reason": "It does."}
FAIL: Said = {"verdict": "fail", "quote": "", "reason": "It does not."}


@dataclass(frozen=True, slots=True)
class CriteriaOracle:
    """`said` by instruction is its reply, pass for the others."""

    said: Mapping[str, Said] = field(default_factory=dict)

    def __call__(self, seen: Seen) -> Answer:
        """The reply to a prompt with criteria."""
        return text(json.dumps(self.reply(seen)))

    def reply(self, seen: Seen) -> dict[str, Any]:
        """The reply as a value, for scripts that spoil it."""
        return {
            "verdicts": [
                {"criterion": number, "applies": True, **self.said.get(instruction, PASS)}
                for number, instruction in asked(seen)
            ]
        }


def asked(seen: Seen) -> list[tuple[int, str]]:
    """The criteria that a prompt asks about, by their number."""
    _, _, listed = seen.user.rpartition("\nCriteria:\n")
    return [(int(number), json.loads(said)) for number, said in _LINE.findall(listed)]
