"""Which sentences of an answer are code: what is fenced off, and lines that are no prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.model import Sentence

_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`\s]*)[^`]*")
# Prose that was fenced off is prose.
_PROSE = {"text", "txt", "plain", "plaintext", "markdown", "md", "quote"}
# An assignment of a call or a literal, a call that is no word with a plural or a unit in brackets
# ("refund(s)"), an import, a definition, brackets alone.
_LINE = re.compile(
    r"""(?:(?:const|let|var)\s+)?[\w.\[\]'"]+\s*=\s*(?:(?:await|new)\s+)?
        (?:[A-Za-z_][\w.]*\(.*|["'\[{(].*)
    | (?:(?:await|return)\s+)?[A-Za-z_]\w*[._]\w[\w.]*\(.*\)\s*;?
    | [A-Za-z_]\w*\((?:|.*["'=].*)\)\s*;?
    | from\s[\w.]+\simport\s.+ | import\s[a-z_][\w.]*(?:\sas\s\w+)?
    | (?:async\s+)?(?:def|class|function|func|fn)\s\w+\s*[(:{].*[:{]
    | [\[\]{}();,]+""",
    re.VERBOSE,
)


def are_code(sentences: Sequence[Sentence]) -> Iterator[bool]:
    """For each sentence of an answer, in order, whether it is code; fences are code too.

    A fence that is never closed reaches to the answer's end.
    """
    fence, is_prose = "", False
    for sentence in sentences:
        mark = _FENCE.fullmatch(sentence.text)
        if mark and not fence:
            fence, is_prose = mark["fence"], mark["info"].lower() in _PROSE
            yield True
        elif mark and not mark["info"] and mark["fence"].startswith(fence):
            fence = ""
            yield True
        else:
            yield bool(fence and not is_prose) or _is_code(sentence.text)


def _is_code(text: str) -> bool:
    """True where every line is one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)
