"""Imports labels from files: each row is matched with a stored claim or refused with a reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from rt4chart_collector.labelling.label_files import (
    NO_CLAIM,
    OURS,
    LabelRecord,
    read_labels_text,
)
from rt4chart_collector.labelling.tasks import Rater, label_row
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow, claim_hash
from rt4chart_collector.store.labels.draws import queues
from rt4chart_collector.store.labels.imported_claims import (
    StoredClaim,
    claims_of_spans,
    known_spans,
)
from rt4chart_collector.store.labels.trusted_labels import (
    MAX_NOTE,
    MAX_RATER,
    GivenLabel,
    LabelRow,
    label_problem,
    labels_on,
    record_labels,
)

MAX_FILE_BYTES = 100 * 2**20
# How far the clock of who wrote the file may be ahead.
CLOCK_NS = 3600 * 10**9
UNKNOWN, DELETED = "unknown id", "the answer was deleted"
NO_NUMBER = "no number of a claim, and the answer has several"
CHANGED = "the claim has another text now"
NO_RATER = "no rater: name one with --rater"
FUTURE = "the time is in the future"
SEVERAL = "another label of the same rater on the same claim comes later in the file"


@dataclass(slots=True)
class ImportResult:
    """What an import did; `refused` counts rows by reason."""

    form: str = ""
    stored: int = 0
    unchanged: int = 0
    not_drawn: int = 0
    contradicting: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        """The result for people."""
        yield f"{self.stored} labels imported ({self.form}), {self.unchanged} were there already"
        if self.not_drawn:
            yield (
                f"{self.not_drawn} of them are on claims without a known probability: they are no "
                "sample, and count for the agreement of raters and the judge on labelled claims, "
                "not in the corrected rate"
            )
        if self.contradicting:
            yield f"{self.contradicting} of them contradict another rater's label; all are kept"
        for reason, count in self.refused.most_common():
            yield f"refused: {count} × {printable(reason)}"


def import_labels(
    client: Client,
    path: Path,
    *,
    form: str | None = None,
    meanings: Mapping[str, GivenLabel] | None = None,
    rater: str = "",
    now_ns: int,
) -> ImportResult:
    """Import the labels of a file; `rater` is who gave those that name nobody.

    Raises InputError for a file that cannot be read at all.
    """
    found, records = read_labels_text(_text_of(path), form=form, meanings=meanings)
    result = ImportResult(found)
    rows: dict[tuple[str, ClaimKey, str], LabelRow] = {}
    for row in _matched(client, records, result, rater=rater, now_ns=now_ns):
        key = (row.verifier, row.claim_key, row.rater)
        if key in rows:
            result.refused[SEVERAL] += 1
        rows[key] = row
    by_verifier: defaultdict[str, list[LabelRow]] = defaultdict(list)
    for row in rows.values():
        by_verifier[row.verifier].append(row)
    for verifier, own in by_verifier.items():
        _store(client, verifier, own, result)
    return result


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: expected at most {MAX_FILE_BYTES // 2**20} MiB")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"--import: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8: {error.reason}") from error


def _matched(
    client: Client,
    records: Sequence[LabelRecord],
    result: ImportResult,
    *,
    rater: str,
    now_ns: int,
) -> Iterator[LabelRow]:
    readable = [record for record in records if not record.problem]
    spans = sorted({record.span_id for record in readable})
    stored: defaultdict[str, list[StoredClaim]] = defaultdict(list)
    for one in claims_of_spans(client, spans):
        stored[one.row.span_id].append(one)
    known = known_spans(client, spans)
    drawn = {
        (row.draw, row.claim_key): row
        for row in queues(client, [record.draw for record in readable if record.draw])
    }
    for record in records:
        row, problem = None, record.problem
        if not problem:
            row, problem = _claim_of(record, stored[record.span_id], known, drawn)
        name = (record.rater or rater)[:MAX_RATER]
        if not problem:
            problem = label_problem(name, record.status) if name else NO_RATER
        if not problem and record.at_ns > now_ns + CLOCK_NS:
            problem = FUTURE
        if row is None or problem:
            result.refused[problem] += 1
            continue
        yield _label(record, row, name, result.form, now_ns)


def _claim_of(
    record: LabelRecord,
    stored: Sequence[StoredClaim],
    known: frozenset[str],
    drawn: Mapping[tuple[str, ClaimKey], QueueRow],
) -> tuple[ClaimVerdictRow | None, str]:
    """The claim of a record, or why there is none."""
    fitting = [
        one
        for one in stored
        if record.trace_id in ("", one.row.trace_id) and record.verifier in ("", one.row.verifier)
    ]
    if not fitting:
        return None, DELETED if record.span_id in known else UNKNOWN
    # Without a verifier's name, the claims of the last verdict.
    last = max(fitting, key=lambda one: (one.row.version, one.row.verifier)).row.verifier
    own = [one for one in fitting if one.row.verifier == last]
    if record.claim == NO_CLAIM and len(own) > 1:
        return None, NO_NUMBER
    one = next((one for one in own if record.claim in (NO_CLAIM, one.row.index)), None)
    if one is None:
        return None, UNKNOWN
    if record.text_hash and record.text_hash != claim_hash(one.row.text):
        return None, CHANGED
    return _verdict_row(one, drawn.get((record.draw, _key(one.row)))), ""


def _key(row: ClaimRow) -> ClaimKey:
    return (row.trace_id, row.span_id, row.index)


def _verdict_row(one: StoredClaim, queued: QueueRow | None) -> ClaimVerdictRow:
    """The claim as it was drawn, or as it is if the file's label has no draw of this database."""
    return queued if queued is not None else one.undrawn


def _label(
    record: LabelRecord, row: ClaimVerdictRow, name: str, form: str, now_ns: int
) -> LabelRow:
    return label_row(
        row,
        Rater(name, record.kind, form if form != OURS else "import"),
        record.label,
        at_ns=min(record.at_ns or now_ns, now_ns),
        status=record.status,
        note=record.note[:MAX_NOTE],
        is_blind=record.is_blind,
    )


def _store(client: Client, verifier: str, rows: Sequence[LabelRow], result: ImportResult) -> None:
    before = labels_on(client, verifier, sorted({row.claim_key for row in rows}))
    same = {(row.claim_key, row.rater, row.label, row.status, row.note) for row in before}
    fresh = [
        row
        for row in rows
        if (row.claim_key, row.rater, row.label, row.status, row.note) not in same
    ]
    record_labels(client, fresh)
    result.stored += len(fresh)
    result.unchanged += len(rows) - len(fresh)
    result.not_drawn += sum(not row.draw for row in fresh)
    given: defaultdict[ClaimKey, dict[str, GivenLabel]] = defaultdict(dict)
    for row in (*before, *rows):
        given[row.claim_key][row.rater] = row.label
    result.contradicting += sum(
        any(
            other != row.label and other.is_decided and row.label.is_decided
            for name, other in given[row.claim_key].items()
            if name != row.rater
        )
        for row in fresh
    )
