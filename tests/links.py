"""Links and anchors of Markdown pages, as GitHub resolves them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page: Path) -> Iterator[str]:
    """The targets of a page's links that are not addresses of other hosts."""
    for target in LINK.findall(_prose(page)):
        if "://" not in target:
            yield target


def resolves(page: Path, target: str) -> bool:
    """True if the file exists, and its heading if the target names one."""
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    return file.exists() and (not anchor or anchor in anchors(file))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings: lower case, hyphens for spaces, -1 for a second one."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(_prose(page)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(found)


def _prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())
