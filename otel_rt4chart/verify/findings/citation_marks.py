"""Resolves what an answer cites, by id, position, footnote, link or title, to passages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Passage
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.text.citations import Citation, citations, may_have_brackets

_TITLES = ("title", "name", "document", "document_title", "source", "file_name", "filename")
_URLS = ("url", "uri", "link", "href", "source", "source_url", "id", "document_id", "doc_id")
_URL = re.compile(r"https?://[^\s<>()\[\]\"'“”‘’|]+", re.IGNORECASE)
_FOOTNOTE = re.compile(r"(?<=[.,;:!?”\"')])[¹²³⁰⁴-⁹]{1,3}|(?<=\w)\[\^\d{1,3}\](?!:)")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
# "[1]: https://…" and "[^1]: Benefits Guide" anywhere; "[1] …" and "1. …" below such a heading.
_DEFINITION = re.compile(r"^[ \t]*\[\^?(?P<number>\d{1,3})\]:[ \t]*(?P<named>\S.*)$", re.M)
_HEADING = re.compile(
    r"^[^\w\n]*+(?:sources?|references?|citations?|footnotes?)[^\w\n]*+$", re.M | re.I
)
_ENTRY = re.compile(r"^[ \t]*(?:\[\^?(\d{1,3})\]|(\d{1,3})[.)])[ \t]*+:?[ \t]*+(\S.*)$", re.M)
# A link is a citation where it says so; any other may lead to a form or a home page.
_AS_SOURCE = re.compile(
    r"(?:\b(?:source|sources|see|ref|reference|cited\s+from)\s*:?\s*|[(\[]\s*)$", re.I
)
_NAME = r"(?-i:[A-Z][\w’'&.-]*)(?:\s+(?:of|and|for|the|on|in|to|&|(?-i:[A-Z\d][\w’'&.-]*)))*"
_ACCORDING = re.compile(
    r"\b(?:according\s+to|as\s+(?:stated|described|noted|mentioned|explained|outlined)\s+in|as\s+per)"
    rf"\s+(?:the\s+)?(?P<name>{_NAME})",
    re.IGNORECASE,
)
_LOOSE_END = re.compile(r"(?:\s+(?:of|and|for|the|on|in|to|&))+$", re.IGNORECASE)


class ResolvedCitation(NamedTuple):
    """`answer[start:end]` cites `passages`; nothing that was retrieved if it `is_unknown`.

    Without passages and not unknown, it is not certain what is meant.
    """

    start: int
    end: int
    text: str
    name: str
    passages: tuple[Passage, ...] = ()
    is_unknown: bool = False


class CitedPassages:
    """The passages by their ids, links and titles, to resolve many citations."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """Of passages with the same id, the first counts."""
        self.passages = passages
        self._by_id = {passage.id.casefold(): passage for passage in reversed(passages)}
        self._are_numbered = any(passage.id.isdecimal() for passage in passages)
        self._by_url: defaultdict[str, list[Passage]] = defaultdict(list)
        self._titles: list[tuple[frozenset[str], Passage]] = []
        for passage in passages:
            for value in (passage.id, *(passage.metadata.get(key) for key in _URLS)):
                if isinstance(value, str) and _URL.match(value):
                    self._by_url[_url_key(value)].append(passage)
            for value in (passage.id, *(passage.metadata.get(key) for key in _TITLES)):
                if isinstance(value, str) and (stems := frozenset(content(_spaced(value)))):
                    self._titles.append((stems, passage))

    def by_mark(self, cited: Citation) -> Passage | None:
        """The passage that a citation names: by its id, else by its position, counted from 1."""
        named = self._by_id.get(cited.id.casefold())
        if named is not None or cited.number is None or self._are_numbered:
            return named
        is_known = 1 <= cited.number <= len(self.passages)
        return self.passages[cited.number - 1] if is_known else None

    @cached_property
    def _folded(self) -> list[str]:
        return [passage.text.casefold() for passage in self.passages]

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(stem for passage in self.passages for stem in content(passage.text))

    def by_url(self, url: str) -> tuple[Passage, ...]:
        """The passages of that page; the scheme, "www." and the part behind "#" do not matter."""
        return tuple(self._by_url.get(_url_key(url), ()))

    def by_title(self, name: str) -> tuple[Passage, ...]:
        """The passages of the one document whose title has all words of the name; else none."""
        wanted = content(name).keys()
        found = [(title, passage) for title, passage in self._titles if wanted and wanted <= title]
        if len({title for title, _ in found}) != 1:
            return ()
        return tuple(passage for _, passage in found)

    def lacks_url(self, url: str) -> bool:
        """True where passages have links, and this one is neither theirs nor in their texts."""
        if not self._by_url or self.by_url(url):
            return False
        key = _url_key(url)
        return not any(key in text for text in self._folded)

    def lacks_name(self, name: str) -> bool:
        """True where no word of the name is in a title or a text of the passages."""
        wanted = content(name).keys()
        if not wanted or not self.passages or any(wanted & title for title, _ in self._titles):
            return False
        return not wanted & self._stems


def _spaced(name: str) -> str:
    """The words of a file name or an id: "benefits-guide_2024.pdf"."""
    return re.sub(r"[-_/.]+", " ", name)


def _url_key(url: str) -> str:
    bare = re.sub(r"^https?://(?:www\.)?", "", url.casefold()).partition("#")[0]
    return bare.rstrip("/.,;:!?")


def may_have_marks(answer: str) -> bool:
    """False if the answer cites nothing, whatever was retrieved."""
    return may_have_brackets(answer) or any(
        form.search(answer) is not None for form in (_URL, _FOOTNOTE, _ACCORDING)
    )


def resolve_marks(answer: str, cited: CitedPassages) -> tuple[ResolvedCitation, ...]:
    """All citations of the answer in order, with the passages that they name."""
    defined, listing = _definitions(answer)
    found = [
        one
        for one in (
            *_brackets(answer, cited, defined),
            *_footnotes(answer, cited, defined),
            *_links(answer, cited),
            *_attributions(answer, cited),
        )
        if not any(start <= one.start < end for start, end in listing)
    ]
    found += _listed_sources(answer, cited, defined, listing)
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def _definitions(answer: str) -> tuple[Mapping[str, str], Sequence[tuple[int, int]]]:
    """What the numbers of a list of sources stand for, and the places of the list's lines."""
    found: dict[str, str] = {}
    places: list[tuple[int, int]] = []
    for match in _DEFINITION.finditer(answer):
        found[match["number"]] = match["named"]
        places.append(match.span())
    heading = max(_HEADING.finditer(answer), key=lambda one: one.start(), default=None)
    for match in _ENTRY.finditer(answer, heading.end()) if heading else ():
        found.setdefault(match[1] or match[2], match[3])
        places.append(match.span())
    return found, places


def _brackets(
    answer: str, cited: CitedPassages, defined: Mapping[str, str]
) -> Iterator[ResolvedCitation]:
    for mark in citations(answer, [passage.id for passage in cited.passages]):
        where = (mark.start, mark.end, mark.text, mark.id)
        if (number := mark.id.lstrip("^")) in defined:
            yield ResolvedCitation(*where, _named_in_list(defined[number], cited))
        else:
            named = cited.by_mark(mark)
            yield ResolvedCitation(*where, (named,) if named else (), named is None)


def _footnotes(
    answer: str, cited: CitedPassages, defined: Mapping[str, str]
) -> Iterator[ResolvedCitation]:
    """Footnotes: "covered.²" and "covered[^2]"; elsewhere a raised digit may be a unit's."""
    for match in _FOOTNOTE.finditer(answer):
        number = match.group().translate(_DIGITS).strip("[^]")
        where = (*match.span(), match.group(), number)
        if number in defined:
            yield ResolvedCitation(*where, _named_in_list(defined[number], cited))
        else:
            named = cited.by_mark(Citation(*where, int(number)))
            yield ResolvedCitation(*where, (named,) if named else (), named is None)


def _named_in_list(named: str, cited: CitedPassages) -> tuple[Passage, ...]:
    url = _URL.search(named)
    return (cited.by_url(url.group()) if url else ()) or cited.by_title(_URL.sub("", named))


def _links(answer: str, cited: CitedPassages) -> Iterator[ResolvedCitation]:
    for match in _URL.finditer(answer):
        url = match.group().rstrip(".,;:!?")
        where = (match.start(), match.start() + len(url), url, url)
        is_source = _AS_SOURCE.search(answer, max(0, match.start() - 20), match.start())
        # The "](" of a link with words: it cites only what was retrieved.
        is_linked = answer[max(0, match.start() - 20) : match.start()].rstrip().endswith("](")
        is_unknown = is_source is not None and not is_linked and cited.lacks_url(url)
        yield ResolvedCitation(*where, cited.by_url(url), is_unknown)


def _attributions(answer: str, cited: CitedPassages) -> Iterator[ResolvedCitation]:
    for match in _ACCORDING.finditer(answer):
        name = _LOOSE_END.sub("", match["name"]).rstrip(".,;:")
        start = match.start("name")
        where = (start, start + len(name), name, name)
        # "Monday's schedule", "Zurich figures": the name is only a part of what is meant.
        is_whole = re.match(r"\W*(?:$|[,.;:)\]\n])", answer[start + len(name) :]) is not None
        is_whole = is_whole and not name.endswith(("'s", "’s"))
        yield ResolvedCitation(*where, cited.by_title(name), is_whole and cited.lacks_name(name))


def _listed_sources(
    answer: str,
    cited: CitedPassages,
    defined: Mapping[str, str],
    listing: Sequence[tuple[int, int]],
) -> Iterator[ResolvedCitation]:
    """The links of the list of sources, which name pages that must have been retrieved."""
    for start, end in listing:
        url = _URL.search(answer, start, end)
        if url is not None and cited.lacks_url(url.group().rstrip(".,;:!?")):
            name = url.group().rstrip(".,;:!?")
            yield ResolvedCitation(url.start(), url.start() + len(name), name, name, (), True)
