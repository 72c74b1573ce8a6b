"""The words of a search in a text: what stands around them, with all of them marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup

from rt4chart_collector.console.view.filters import visible


def with_found_words(
    text: str, length: int, words: Sequence[str], *, is_cut: bool = False
) -> Markup:
    """At most `length` characters of the text around the first of these words, all words marked.

    Without any of them, its start. `is_cut` says that the text begins in the middle of another.
    """
    line = visible(" ".join(text.split()))
    shown = [visible(" ".join(word.split())) for word in words]
    pattern = "|".join(map(re.escape, sorted(filter(None, shown), key=len, reverse=True)))
    first = re.search(pattern, line, re.IGNORECASE) if pattern else None
    begin = max(first.start() - length // 3, 0) if first and len(line) > length else 0
    begin = min(begin, max(len(line) - length, 0))
    part = line[begin : begin + length]
    marked = Markup("…") if begin or is_cut else Markup()
    at = 0
    for match in re.finditer(pattern, part, re.IGNORECASE) if pattern else ():
        marked += Markup("{}<mark>{}</mark>").format(part[at : match.start()], match.group())
        at = match.end()
    return marked + part[at:] + ("…" if begin + length < len(line) else "")
