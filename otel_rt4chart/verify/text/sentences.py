"""Prose into sentences with exact character offsets, and ranges that split no grapheme."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import regex
import sentencex

from otel_rt4chart.verify.core.model import AnswerRange

_GRAPHEME = regex.compile(r"\X")
_LONGEST_GRAPHEME = 400  # characters; a longer one, of endless accents, may be split


def whole_graphemes(answer: str, found: AnswerRange) -> AnswerRange:
    """The range, widened on both sides so that it splits no grapheme."""
    return AnswerRange(boundary(answer, found.start), boundary(answer, found.end, is_end=True))


def boundary(text: str, at: int, *, is_end: bool = False) -> int:
    """The position, or the grapheme boundary before it (after it for an end)."""
    if at <= 0 or at >= len(text) or _is_apart(text, at):
        return at
    start, first = at - 1, max(0, at - _LONGEST_GRAPHEME)
    while start > first and not _is_apart(text, start):
        start -= 1
    # Of a copy: in a run of flags, the pattern would look back to the start of the text.
    near = text[start : at + _LONGEST_GRAPHEME]
    for grapheme in _GRAPHEME.finditer(near):
        first, end = start + grapheme.start(), start + grapheme.end()
        if end > at:
            return at if first >= at else end if is_end else first
    return at


def _is_apart(text: str, at: int) -> bool:
    """True where the two characters around the position alone prove that it is a boundary."""
    before, after = text[at - 1], text[at]
    is_line_end = "\n" in (before, after) and before != "\r"
    return is_line_end or (_is_plain(before) and _is_plain(after))


def _is_plain(character: str) -> bool:
    """True for printable ASCII and ideographs, which never join with each other."""
    return " " <= character <= "~" or "\u4e00" <= character <= "\u9fff"


# The segmenter's time grows with the square of what it is given, and it cannot be interrupted: a
# line of 300,000 quotation marks took it half a minute.
SEGMENTED_AT_ONCE = 4_000

# A longer "sentence" is a table, a log or minified code: it is cut between words.
MAX_SENTENCE = 2_000

# A line this long without closing punctuation was wrapped by its writer's editor.
_WRAPPED = 60
_OWN_LINE = re.compile(
    r"""\s*(?: [-*+•‣◦·–—]\s | \(?(?:\d{1,3}|[a-zA-Z])[.)]\s | \#{1,6}\s | [|>`~=] | \*\*
      | [^\s:][^:\n.!?]{0,40}:(?:\s|$) )""",
    re.VERBOSE,
)
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?P<language>[^\s`]*)")
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
# A dotted name is one word: "openai.APIError", "ssl.PROTOCOL_TLS", "np.Array()". Its second part is
# written as no sentence begins, or its first as no word ends.
_DOTTED_END = re.compile(r"[^\W\d]\w*\.$")
_CODE_END = re.compile(r"(?:\w_\w*|[^\W\d]\w*\d|\.\w+)\.$")
_CODE_START = re.compile(
    r"[^\W\d]\w*(?:_\w|[(`*]|\.[^\W\d_])|(?:[A-Z][a-z]+|[a-z]+|[A-Z]+(?=[A-Z][a-z]))[A-Z]"
)
_GAP = re.compile(r"\s+")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """The offsets of each sentence, disjoint and in order, without surrounding whitespace."""
    # The segmenter accepts valid Unicode only; the replacement has the same length.
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
    """Runs of lines that may share a sentence, with their offsets; together the whole text."""
    start, at = 0, 0
    before, is_code = "", False
    for line in text.splitlines(keepends=True):
        if before and (is_code or not _continues(before, line)):
            yield start, text[start:at]
            start = at
        if fence := _FENCE.match(line):
            # What is retrieved may begin in the middle of code: a bare fence right behind a line
            # ends what began before.
            is_code = not is_code and bool(fence["language"] or not before.strip())
        at += len(line)
        before = line
    if start < at:
        yield start, text[start:at]


def _continues(before: str, line: str) -> bool:
    """True where a line continues the sentence of the line before it."""
    body, ahead = before.rstrip(), line.lstrip()
    if not body or not ahead or _CLOSED.search(body[-8:]):
        return False
    if _OWN_LINE.match(line) or _HEADING.match(before):
        return False
    return ahead[0].islower() or len(body) >= _WRAPPED


def _pieces(block: str) -> Sequence[str]:
    """The segmenter's sentences, with wrong cuts undone; each keeps its trailing whitespace.

    Offsets are sums of lengths, so a result that changes the text is not used.
    """
    pieces: list[str] = []
    for piece in _segmented(block):
        if pieces and _was_cut_early(pieces[-1], piece):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _segmented(block: str) -> Iterator[str]:
    """The segmenter's sentences of a block, which it reads in parts of a bounded length.

    The last sentence of a part may go on after it, so the next part begins with it, unless it is
    most of the part: then it is cut between words. Parts also bound how far an unbalanced quotation
    mark reaches, behind which the segmenter sees no sentences.
    """
    at = 0
    while at < len(block):
        part = block[at : at + SEGMENTED_AT_ONCE]
        found: list[str] = [part] if part.isspace() else sentencex.segment("en", part)
        if "".join(found) != part:
            found = [part]
        if at + len(part) < len(block):
            last = found.pop()
            if not found or len(last) > len(part) // 2:
                start = at + len(part) - len(last)
                found.append(block[start : _cut(block, start, at + len(part))])
        yield from found
        at += sum(map(len, found))


def _was_cut_early(before: str, piece: str) -> bool:
    """True for a wrong cut: after "5 p.m." or "1.", before "[2]", in a dotted name."""
    if _is_in_dotted_name(before, piece):
        return True
    if _CLOCK.search(before[-8:]) and _AFTER_CLOCK.match(piece):
        return True
    if len(before) < 8 and _ENUMERATOR.fullmatch(before):
        return True
    return not any(map(str.isalnum, piece)) or _CITATIONS.fullmatch(piece) is not None


def _is_in_dotted_name(before: str, piece: str) -> bool:
    """True for a cut in `truststore.SSLContext`; "by 2019.The" lacks a space between sentences."""
    if before[-1:] != "." or not _DOTTED_END.search(before[-80:]):
        return False
    if _CODE_START.match(piece):
        return True
    return piece[:1].isalpha() and _CODE_END.search(before[-80:]) is not None


def _bounded(piece: str) -> Iterator[str]:
    """A piece, cut to the maximal length between words, or else between graphemes.

    The last two parts are of about the same length: a few words left over would say nothing.
    """
    start = 0
    while (left := len(piece) - start) > MAX_SENTENCE:
        length = MAX_SENTENCE if left > 2 * MAX_SENTENCE else (left + 1) // 2
        cut = _cut(piece, start, start + length)
        yield piece[start:cut]
        start = cut
    yield piece[start:]


def _cut(text: str, start: int, end: int) -> int:
    """The last position after `start`, up to `end`, between words, or else between graphemes.

    A word that fills half of it is cut itself: of "The code is ABAB…", "The code is" would be left.
    """
    gaps = [gap.end() for gap in _GAP.finditer(text, start, end) if gap.end() > start + 1]
    if gaps and end - gaps[-1] <= (end - start) // 2:
        return gaps[-1]
    cut = boundary(text, end)
    return cut if cut > start else end
