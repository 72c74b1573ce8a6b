"""Prose into sentences: where each begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import sentencex

from otel_rt4chart.verify.text.graphemes import boundary

# A longer "sentence" is no prose (a table, a log, minified code): it is cut between words.
MAX_SENTENCE = 2_000

# A line this long without closing punctuation was wrapped by its writer's editor.
_WRAPPED = 60
_OWN_LINE = re.compile(
    r"""\s*(?: [-*+•‣◦·–—]\s | \(?(?:\d{1,3}|[a-zA-Z])[.)]\s | \#{1,6}\s | [|>`~=] | \*\*
      | [^\s:][^:\n.!?]{0,40}:(?:\s|$) )""",
    re.VERBOSE,
)
_CLOSED = re.compile(r"""[.!?:;。！？؟۔।…]["'”’»)\]*]*\s*$""")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|[|>`~])")
_CLOCK = re.compile(r"\b[ap]\.\s?m\.\s*$", re.IGNORECASE)
_AFTER_CLOCK = re.compile(
    r"""(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days? | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b
      | (?:January|February|March|April|May|June|July|August|September|October|November|December)\b
      | (?:[ECMP][SD]?T|GMT|UTC|BST|CES?T|Eastern|Pacific|Central|Mountain)\b | [(a-z] )""",
    re.VERBOSE,
)
_CITATIONS = re.compile(r"(?:\s*[\[(][\w\s,;:#-]{1,40}[\])])+[.\s]*")
_ENUMERATOR = re.compile(r"\s*\(?(?:\d{1,3}|[a-zA-Z])[.)]\s*")
_GAP = re.compile(r"\s+")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Each sentence's offsets, disjoint and in order, without the whitespace around it.

    The segmenter takes valid Unicode only, so a lone surrogate stands in for itself meanwhile.
    """
    readable = _SURROGATES.sub("\ufffd", text)
    for at, block in _blocks(readable):
        for piece in _pieces(block):
            for part in _bounded(piece):
                left = at + len(part) - len(part.lstrip())
                right = at + len(part.rstrip())
                at += len(part)
                if left < right:
                    yield left, right


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Runs of lines that may hold one sentence, with their offsets: all of the text in order."""
    start, at = 0, 0
    before = ""
    for line in text.splitlines(keepends=True):
        if before and not _continues(before, line):
            yield start, text[start:at]
            start = at
        at += len(line)
        before = line
    if start < at:
        yield start, text[start:at]


def _continues(before: str, line: str) -> bool:
    """True where a line goes on with the sentence of the line before it."""
    body, ahead = before.rstrip(), line.lstrip()
    if not body or not ahead or _CLOSED.search(body[-8:]):
        return False
    if _OWN_LINE.match(line) or _HEADING.match(before):
        return False
    return ahead[0].islower() or len(body) >= _WRAPPED


def _pieces(block: str) -> Sequence[str]:
    """The segmenter's sentences, mended; the block itself if they are not exactly its characters.

    Each piece keeps its trailing whitespace, so that lengths alone give offsets.
    """
    if block.isspace():
        return (block,)
    found: list[str] = sentencex.segment("en", block)
    if "".join(found) != block:
        return (block,)
    pieces: list[str] = []
    for piece in found:
        if pieces and _belongs(pieces[-1], piece):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _belongs(before: str, piece: str) -> bool:
    """True where the segmenter cut too early: after "5 p.m." or "1.", before "[2]" or a bracket."""
    if _CLOCK.search(before[-8:]) and _AFTER_CLOCK.match(piece):
        return True
    if len(before) < 8 and _ENUMERATOR.fullmatch(before):
        return True
    return not any(map(str.isalnum, piece)) or _CITATIONS.fullmatch(piece) is not None


def _bounded(piece: str) -> Iterator[str]:
    """A piece, cut where it is too long for a sentence: between words, else between graphemes."""
    while len(piece) > MAX_SENTENCE:
        gaps = [gap.end() for gap in _GAP.finditer(piece, 0, MAX_SENTENCE) if gap.end() > 1]
        cut = gaps[-1] if gaps else boundary(piece, MAX_SENTENCE) or MAX_SENTENCE
        yield piece[:cut]
        piece = piece[cut:]
    yield piece
