"""RAGTruth's own `source_info`: an article, a question with passages, or a business record."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PASSAGE = re.compile(r"(?im)^\s*passage\s+\d+\s*:")


def question_of(source_info: object) -> str:
    """The question of a QA source; the other tasks have none."""
    asked = source_info.get("question") if isinstance(source_info, dict) else None
    return asked if isinstance(asked, str) else ""


def passages_of(source_info: object) -> list[str] | None:
    """The texts a source holds; None where it is of no known form."""
    if isinstance(source_info, str):
        return [source_info]
    if not isinstance(source_info, dict):
        return None
    passages = source_info.get("passages")
    if isinstance(passages, str):
        return [part.strip() for part in _PASSAGE.split(passages) if part.strip()]
    if isinstance(passages, list):
        return [str(passage) for passage in passages]
    return ["\n".join(_statements(source_info))]


def _statements(record: object, path: str = "") -> Iterator[str]:
    """One line for each value of a record, under the names that lead to it; null is unknown."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield from _statements(value, f"{path} {_spaced(str(key))}".strip())
    elif isinstance(record, list):
        for value in record:
            yield from _statements(value, path)
    else:
        said = "unknown" if record is None else record
        if isinstance(record, bool):
            said = "yes" if record else "no"
        yield f"{path}: {said}" if path else str(said)


def _spaced(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key)
