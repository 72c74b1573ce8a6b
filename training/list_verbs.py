"""List finite verb forms: `python training/list_verbs.py DIR` writes verify/verbs.txt.

DIR holds WordNet 3.0's database: cntlist.rev, index.noun, noun.exc and verb.exc.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).parents[1] / "otel_rt4chart/verify/decompose/verbs.txt"
LICENCE = "# WordNet 3.0, Copyright 2006 by Princeton University; see NOTICE\n"
LEAST = 3  # a verb tagged less often is left out
NEVER_MEANT = frozenset(("based",))  # "and based on the schedule, ..." is no predicate
LEFT_OUT = frozenset(("be", "have", "do", "can", "will", "may", "must", "shall"))
AUXILIARIES = {
    "one": "is has does",
    "one past": "was",
    "many": "are have do",
    "many past": "were",
    "any past": "had did",
    "any": "will would can could may might must should shall cannot can't won't",
}
PARTICIPLE = re.compile(r"(?:en|wn|rn)$")
PARTICIPLE_BESIDE_A_PAST = re.compile(r"(?:in|ne|un[gk]?|um)$")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What WordNet counts: how often each lemma is tagged, and the forms no rule gives."""

    verbs: Mapping[str, int]
    nouns: Mapping[str, int]
    irregular: Mapping[str, set[str]]
    known_nouns: frozenset[str]


def main(folder: Path) -> None:
    """Write every form on a line of its own, a star behind those with no other reading.

    Behind an auxiliary stand its number and whether it is past.
    """
    lexicon = read_lexicon(folder)
    forms: dict[str, bool] = {}
    auxiliaries = [
        f"{form} auxiliary {marks}"
        for marks, listed in AUXILIARIES.items()
        for form in listed.split()
    ]
    for lemma, count in lexicon.verbs.items():
        if count >= LEAST and lemma.isalpha() and lemma not in LEFT_OUT:
            for form, is_sure in forms_of(lemma, lexicon):
                forms[form] = forms.get(form, True) and is_sure
    lexical = [form + " *" * is_sure for form, is_sure in forms.items()]
    lines = sorted([*auxiliaries, *lexical])
    TARGET.write_text(LICENCE + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(lines)} forms, {TARGET.stat().st_size} bytes")


def read_lexicon(folder: Path) -> Lexicon:
    """The counts per part of speech and the exception lists."""
    counts: dict[str, Counter[str]] = {"1": Counter(), "2": Counter()}
    for line in _lines(folder / "cntlist.rev"):
        key, _, count = line.split()
        lemma, _, rest = key.partition("%")
        if rest[0] in counts:
            counts[rest[0]][lemma] += int(count)
    irregular: defaultdict[str, set[str]] = defaultdict(set)
    for line in _lines(folder / "verb.exc"):
        form, *lemmas = line.split()
        for lemma in lemmas:
            irregular[lemma].add(form)
    nouns = {line.split()[0] for line in _lines(folder / "index.noun") if line[0] != " "}
    plurals = {line.split()[0] for line in _lines(folder / "noun.exc")}
    return Lexicon(counts["2"], counts["1"], irregular, frozenset(nouns | plurals))


def forms_of(lemma: str, lexicon: Lexicon) -> Iterator[tuple[str, bool]]:
    """The forms with a tense of their own, each with whether it can be nothing else."""
    present = third_person(lemma)
    nouns = lexicon.nouns.get(lemma, 0)
    if lexicon.verbs[lemma] > nouns:
        yield present, nouns == 0 and present not in lexicon.known_nouns
    participles, pasts = past_forms(lemma, lexicon.irregular.get(lemma, set()))
    for past in pasts - {lemma, *NEVER_MEANT}:
        if lexicon.nouns.get(past, 0) <= lexicon.verbs[lemma]:
            yield past, bool(participles) and past not in lexicon.known_nouns


def third_person(lemma: str) -> str:
    """The form that agrees with "it"."""
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", lemma) else "s")


def past_forms(lemma: str, irregular: set[str]) -> tuple[set[str], set[str]]:
    """The participles that are no past, and the pasts; a doubled consonant counts as irregular."""
    listed = {form for form in irregular if not form.endswith(("ing", "s"))}
    own = {form for form in listed if PARTICIPLE.search(form)}
    beside = {form for form in listed - own if PARTICIPLE_BESIDE_A_PAST.search(form)}
    if listed - own - beside:
        own |= beside
    pasts = listed - own
    if not pasts or lemma + "t" in pasts:
        pasts = pasts | {regular_past(lemma)}
        own = set()
    # The participle of these is the base form, which the exception list does not repeat.
    if listed and lemma.endswith(("come", "run")):
        own = own | {lemma}
    return own, pasts


def regular_past(lemma: str) -> str:
    """The form in -ed."""
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ied"
    return lemma + ("d" if lemma.endswith("e") else "ed")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
