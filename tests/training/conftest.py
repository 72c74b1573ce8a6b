"""A WordNet of a dozen meanings, in the format of the real one's files."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

NOUN, VERB, ADJECTIVE, SATELLITE, ADVERB = "nvasr"
FILES = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
DIGITS = {"n": 1, "v": 2, "a": 3, "s": 5, "r": 4}
LICENCE = "  1 A line of the licence begins with blanks.  \n"

# Offset, part, words, pointers: a sign, the other's offset and part, the two words' places.
MEANINGS: list[tuple[str, str, str, list[str]]] = [
    *(
        (f"000000{at:02}", NOUN, f"level{at}", [f"@ 000000{at - 1:02} n 0000"] if at else [])
        for at in range(7)
    ),
    ("00000100", NOUN, "doctor physician", ["@ 00000006 n 0000"]),
    ("00000101", NOUN, "dentist", ["@ 00000006 n 0000"]),
    ("00000102", NOUN, "healer", ["@ 00000006 n 0000"]),
    ("00000103", NOUN, "man", ["! 00000104 n 0101"]),
    ("00000104", NOUN, "woman", ["! 00000103 n 0101"]),
    ("00000200", VERB, "hire engage", ["! 00000201 v 0101"]),
    ("00000201", VERB, "fire sack", ["! 00000200 v 0101"]),
    ("00000202", VERB, "doctor", []),
    ("00000300", ADJECTIVE, "large", ["! 00000301 a 0101"]),
    ("00000301", ADJECTIVE, "small", ["! 00000300 a 0101"]),
    ("00000302", SATELLITE, "massive(p)", ["& 00000300 a 0000"]),
    ("00000400", ADVERB, "swiftly fleetly", []),
]  # fmt: skip
# Tagged uses: of a lemma and part, one count for each of its senses.
USES = {
    ("doctor", NOUN): [30],
    ("doctor", VERB): [1],
    ("physician", NOUN): [9],
    ("dentist", NOUN): [5],
    ("man", NOUN): [50],
    ("woman", NOUN): [40],
    ("hire", VERB): [8],
    ("engage", VERB): [6],
    ("fire", VERB): [7],
    ("large", ADJECTIVE): [20],
    ("small", ADJECTIVE): [20],
    ("massive", SATELLITE): [4],
    ("swiftly", ADVERB): [3],
    ("fleetly", ADVERB): [3],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that holds it."""
    senses: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    data: defaultdict[str, list[str]] = defaultdict(list)
    for offset, part, words, pointers in MEANINGS:
        listed = words.split()
        written = " ".join(f"{word} 0" for word in listed)
        told = " ".join(pointers)
        data[FILES[part]].append(
            f"{offset} 00 {part} {len(listed):02x} {written} {len(pointers):03} {told} | a gloss"
        )
        for word in listed:
            senses[word.partition("(")[0], FILES[part]].append(offset)
    for name in FILES.values():
        lines = [
            f"{word} {name[0]} {len(found)} 1 @ {len(found)} {len(found)} {' '.join(found)}"
            for (word, file), found in sorted(senses.items())
            if file == name
        ]
        _write(tmp_path / f"data.{name}", data[name])
        _write(tmp_path / f"index.{name}", lines)
    _write(
        tmp_path / "cntlist.rev",
        [
            f"{lemma}%{DIGITS[part]}:00:00:: {number} {count}"
            for (lemma, part), counts in USES.items()
            for number, count in enumerate(counts, 1)
        ],
        licence="",
    )
    _write(tmp_path / "noun.exc", ["men man", "women woman"], licence="")
    _write(tmp_path / "verb.exc", [], licence="")
    return tmp_path


def _write(path: Path, lines: list[str], licence: str = LICENCE) -> None:
    path.write_text(licence + "".join(f"{line}\n" for line in lines), "utf-8")
