"""Finds the texts that a prompt contains, without comparing every text with every prompt.

A text is compared word by word: quotation marks, white space, markup and the escapes of JSON do not
count. A text that was shortened, wrapped or put into a list is found by the words that are left.
"""

from __future__ import annotations

import html
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.core.text import SPACELESS_SCRIPTS

# Scripts without spaces are read character by character.
WORD = re.compile(rf"[{SPACELESS_SCRIPTS}]|[^\W_{SPACELESS_SCRIPTS}]+")
# From the first backslash of a run alone: a search from each takes time with the run's square.
ESCAPED_CHARACTER = re.compile(r"(?<!\\)\\+u([0-9a-fA-F]{4})")
ESCAPED_SPACE = re.compile(r"(?<!\\)\\+[nrtbf]")
# What may stand around a short text that is quoted whole.
BORDER = re.compile(r'[\n"“”<>|]|: ')
WORDS = 5  # so many words in a row are looked up
STRIDE = 4  # of a long text, every fourth such group is stored
DENSE = 64  # a text with fewer words is stored whole
MAX_SHARED = 64  # a group of words that more texts have tells nothing
MIN_SHARE = 0.5
MIN_RUN = 16
MAX_WORDS = 50_000  # of one text; the rest is not compared
MAX_PROMPT_WORDS = 500_000
MAX_INDEXED_WORDS = 2_000_000  # of all texts together
MAX_SHORT = 200  # characters in which a text of a few words ends


class Run(NamedTuple):
    """Words of a text that stand in a row in a prompt, from `start` to `end` there."""

    text: int
    start: int
    end: int
    offset: int

    @property
    def length(self) -> int:
        """The number of words."""
        return self.end - self.start


class Contained(NamedTuple):
    """A text that a prompt contains, and how much of the text (0 to 1)."""

    text: int
    share: float


class Search(NamedTuple):
    """The texts found in a prompt, and the share of the prompt's words that they explain."""

    found: tuple[Contained, ...]
    explained: float


class _Painted(NamedTuple):
    """The words of each text that are its own, its longest run, and how many words that are."""

    covered: Mapping[int, set[int]]
    longest: Mapping[int, int]
    taken: int


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, with the escapes of JSON and HTML undone."""
    if "\\" in text:
        text = ESCAPED_CHARACTER.sub(lambda found: chr(int(found[1], 16)), text)
        if "\\u" in text or any("\ud800" <= one <= "\udfff" for one in text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = ESCAPED_SPACE.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    return WORD.findall(text.lower())


def _numbers(words: Iterable[str]) -> array[int]:
    return array("q", map(hash, words))


class TextIndex:
    """Texts by the groups of words in them. `work` counts the words that were compared."""

    def __init__(self, texts: Iterable[str]) -> None:
        """The texts are numbered in their order; one with the words of an earlier one is it.

        `is_full` says that some were left out, because all together have too many words.
        """
        self.is_full = False
        self.work = 0
        self._texts: list[array[int]] = []
        self._groups: dict[int, list[tuple[int, int]]] = {}
        self._whole: dict[int, int] = {}
        self.numbers = [self._add(_numbers(words_of(text)[:MAX_WORDS])) for text in texts]

    def _add(self, words: array[int]) -> int:
        """The number of the text; -1 for a text without a word."""
        if not words:
            return -1
        self.is_full = self.is_full or self.work + len(words) > MAX_INDEXED_WORDS
        if self.is_full:
            return -1
        self.work += len(words)
        number = len(self._texts)
        known = self._whole.setdefault(hash(words.tobytes()), number)
        if known != number:
            return known
        self._texts.append(words)
        last = len(words) - WORDS
        step = 1 if len(words) < DENSE else STRIDE
        for at in sorted({*range(0, last + 1, step), last}) if last >= 0 else ():
            places = self._groups.setdefault(_group(words, at), [])
            if len(places) <= MAX_SHARED:
                places.append((number, at))
        return number

    def search(
        self, prompts: Sequence[str], rank: Callable[[int], tuple[int, ...] | None]
    ) -> Search:
        """The texts that the prompts contain.

        `rank` is None for a text that does not count. Where several texts have the same words, the
        longest run has them, then the shorter text, then the higher rank. A text counts if half of
        it is there, or sixteen words in a row, that no other text has.
        """
        allowed: dict[int, tuple[int, ...] | None] = {}

        def ranked(number: int) -> tuple[int, ...] | None:
            if number not in allowed:
                allowed[number] = rank(number)
            return allowed[number]

        runs: list[Run] = []
        total = 0
        for prompt in prompts:
            words = _numbers(words_of(prompt)[:MAX_PROMPT_WORDS])
            self.work += len(words)
            runs += [
                run._replace(start=run.start + total, end=run.end + total)
                for run in self._runs(words, ranked)
            ]
            total += len(words)
        runs += self._short_texts(prompts, ranked, total)
        return self._explained(runs, allowed, total)

    def _runs(
        self, words: array[int], ranked: Callable[[int], tuple[int, ...] | None]
    ) -> Iterator[Run]:
        """The runs of allowed texts; each is found once, however many groups it has."""
        ends: dict[tuple[int, int], int] = {}
        for at in range(len(words) - WORDS + 1):
            places = self._groups.get(_group(words, at), ())
            for number, offset in places if len(places) <= MAX_SHARED else ():
                diagonal = (number, at - offset)
                if ends.get(diagonal, -1) > at or ranked(number) is None:
                    continue
                start, end = self._extended(words, self._texts[number], at, offset)
                ends[diagonal] = end
                yield Run(number, start, end, offset - (at - start))

    def _extended(
        self, words: array[int], text: array[int], at: int, offset: int
    ) -> tuple[int, int]:
        """The start and end in the prompt of the run through a group of words."""
        start, end = at, at + WORDS
        before, after = offset, offset + WORDS
        while start and before and words[start - 1] == text[before - 1]:
            start, before = start - 1, before - 1
        while end < len(words) and after < len(text) and words[end] == text[after]:
            end, after = end + 1, after + 1
        self.work += end - start
        return start, end

    def _short_texts(
        self,
        prompts: Sequence[str],
        ranked: Callable[[int], tuple[int, ...] | None],
        total: int,
    ) -> Iterator[Run]:
        """Texts of fewer words than a group, where they stand between borders, after the prompt."""
        seen: set[int] = set()
        for prompt in prompts:
            for part in BORDER.split(prompt):
                words = _numbers(words_of(part[:MAX_SHORT])[:WORDS])
                if not 0 < len(words) < WORDS:
                    continue
                number = self._whole.get(hash(words.tobytes()), -1)
                if number >= 0 and number not in seen and ranked(number) is not None:
                    seen.add(number)
                    yield Run(number, total, total + len(words), 0)
                    total += len(words)

    def _explained(
        self, runs: Sequence[Run], rank: Mapping[int, tuple[int, ...] | None], total: int
    ) -> Search:
        """The texts with enough words of their own; those of the others go to the next best."""
        alone = defaultdict[int, list[Run]](list)
        for run in runs:
            alone[run.text].append(run)
        strong = {number for number, own in alone.items() if self._may_be_enough(own)}
        ordered = sorted(
            (run for run in runs if run.text in strong),
            key=lambda run: (
                -run.length,
                len(self._texts[run.text]),
                [-one for one in rank[run.text] or ()],
                run.start,
            ),
        )
        while True:
            painted = self._painted(ordered)
            weak = {run.text for run in ordered} - {
                number for number in painted.covered if self._is_enough(painted, number)
            }
            if not weak:
                break
            ordered = [run for run in ordered if run.text not in weak]
        shares = ((one, self._share(painted, one)) for one in sorted(painted.covered))
        return Search(
            tuple(Contained(*pair) for pair in shares),
            min(painted.taken / total, 1.0) if total else 0.0,
        )

    def _share(self, painted: _Painted, number: int) -> float:
        return len(painted.covered.get(number, ())) / len(self._texts[number])

    def _may_be_enough(self, own: Sequence[Run]) -> bool:
        """True where a text is there if no other one has its words."""
        number, size = own[0].text, len(self._texts[own[0].text])
        if max(run.length for run in own) >= size:
            return True
        if size >= 2 * WORDS and max(run.length for run in own) >= min(MIN_RUN, size * MIN_SHARE):
            return True
        return len(own) > 1 and self._is_enough(self._painted(own), number)

    def _is_enough(self, painted: _Painted, number: int) -> bool:
        """True where a text is there: a short one whole, of a longer one half or a long run."""
        if len(self._texts[number]) < 2 * WORDS:
            return self._share(painted, number) == 1.0
        return (
            self._share(painted, number) >= MIN_SHARE or painted.longest.get(number, 0) >= MIN_RUN
        )

    def _painted(self, ordered: Sequence[Run]) -> _Painted:
        """The words of each text, its longest run, and the words of the prompt that are taken."""
        free: dict[int, int] = {}

        def next_free(at: int) -> int:
            path = []
            while at in free:
                path.append(at)
                at = free[at]
            for one in path:
                free[one] = at
            return at

        covered: defaultdict[int, set[int]] = defaultdict(set)
        longest: dict[int, int] = {}
        taken = 0
        for run in ordered:
            at, length, last = next_free(run.start), 0, -2
            while at < run.end:
                covered[run.text].add(at - run.start + run.offset)
                length = length + 1 if at == last + 1 else 1
                longest[run.text] = max(longest.get(run.text, 0), length)
                free[at], last = at + 1, at
                taken += 1
                at = next_free(at + 1)
        self.work += taken
        return _Painted(covered, longest, taken)


def _group(words: array[int], at: int) -> int:
    return hash(tuple(words[at : at + WORDS]))
