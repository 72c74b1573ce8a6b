"""The cluster's tables in one process: real Distributed ones over two shards, which share a disk.

The engine takes a shard for its own where it is on a loopback address and its own port. Both shards
are then this process and have the same tables; a filter that each applies for itself, by the number
of the shard that is asked, gives each its half of the rows. ON CLUSTER is taken out, and what
replicates too: with the engine's Keeper for tests such tables can be made and not written, which
`replicas` does. `shards` prints what differs from a single server.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import clickhouse_connect

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.core.semconv import TENANT
from otel_rt4chart.spans.model.blame import ClaimBlame
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.core.filters.filter_language import FilterTerm
from rt4chart_collector.pipeline.retry import outcome_of
from rt4chart_collector.store.answers.answers import verified_answers
from rt4chart_collector.store.answers.dead_letters import (
    LetterState,
    due_letters,
    insert_letters,
    letter_counts,
    letters_of,
)
from rt4chart_collector.store.answers.export import SOURCES, ExportRequest, export_table
from rt4chart_collector.store.answers.spans import insert_spans, spans_of, unverified_traces
from rt4chart_collector.store.answers.verdicts import already_decided, insert_verdicts
from rt4chart_collector.store.answers.verifications import faithful_answers, last_verifications
from rt4chart_collector.store.engine.cluster_options import pruning_problem, set_cluster_options
from rt4chart_collector.store.engine.connect import CLUSTER_SETTINGS, Client
from rt4chart_collector.store.engine.dsn import Target
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.assignments import assignments_of, nearer_assignments
from rt4chart_collector.store.issues.failure_samples import sampled_vectors
from rt4chart_collector.store.issues.failures import DAY_NS, failures
from rt4chart_collector.store.issues.issue_figures import (
    decided_claims,
    failures_by_day,
    issue_profile,
)
from rt4chart_collector.store.issues.issues import Issue, insert_issues, list_issues, member_keys
from rt4chart_collector.store.issues.match_failures import DescriptionWindow
from rt4chart_collector.store.labels.corrected_rates import corrected_rates, draw_rates
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.labels.rate_history import corrected_history, write_corrected_rates
from rt4chart_collector.store.lists.answer_filter import AnswerFilter
from rt4chart_collector.store.lists.answer_list import answer_page
from rt4chart_collector.store.lists.candidates import Order
from rt4chart_collector.store.rates.claim_rates import (
    DIMENSIONS,
    rates_by,
    rates_over_time,
    route_sums,
)
from rt4chart_collector.store.rates.criterion_rates import criteria_rates
from rt4chart_collector.store.rates.rollup import repair_rollup
from rt4chart_collector.store.rates.ticks import route_ticks
from rt4chart_collector.store.rates.traffic import coverage
from rt4chart_collector.store.rates.verifiers import judge_agreements, main_verifier
from rt4chart_collector.store.schema.cluster import (
    LOCAL_SUFFIX,
    SHARD_PATH,
    UNSHARDED_PATH,
    sharding_keys,
)
from rt4chart_collector.store.schema.migrate import SchemaVariant, migrate, shipped_migrations
from rt4chart_collector.store.schema.tenant_client import TenantClient
from tests.rt4chart_collector.pipeline.test_retry import error
from tests.rt4chart_collector.records import NOON, SECOND, SPAN, VERIFIER, verdict
from tests.rt4chart_collector.store.labels.label_rows import label_all

SHARD = "<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>"
CONFIG = f"""<clickhouse><tcp_port>9000</tcp_port><remote_servers>
<prod>{SHARD}{SHARD}</prod><one>{SHARD}</one></remote_servers>%s</clickhouse>"""
KEEPER = """<zookeeper><implementation>testkeeper</implementation></zookeeper>
<macros><shard>01</shard><replica>a</replica></macros>"""
REPLICAS = "SELECT table, zookeeper_path, replica_name FROM system.replicas ORDER BY table"
ALL = shipped_migrations()
ORDERS: tuple[Order, ...] = ("newest", "worst")
ISSUE = Issue(7, "late", "fp2:contradicted:order", "shop", "support", NOON, NOON, 3, (0.5,), "run")
IDS = [f"{n:032x}" for n in range(1, 31)]
ASSIGN = """
INSERT INTO rt4chart_issue_assignments (Timestamp, TraceId, SpanId, ClaimIndex, IssueId,
    ServiceName, Route, AssignedBy, Version)
SELECT Timestamp, TraceId, SpanId, ClaimIndex, 7, ServiceName, Route, 'birth', Version + 1
FROM rt4chart_claims FINAL WHERE Label = 'baseless' AND IsDeleted = 0
"""
VERIFIED = """
SELECT TraceId, SpanAttributes['rt4chart.label'], SpanAttributes['rt4chart.claims']
FROM otel_traces_verified WHERE TraceId IN {ids:Array(String)} ORDER BY ALL
"""
OF_TENANT = (
    "SELECT ServiceName FROM rt4chart_claims FINAL",
    "SELECT ServiceName FROM rt4chart_route_5m",
    "SELECT ServiceName FROM otel_traces",
    "SELECT c.ServiceName FROM rt4chart_claims AS c FINAL JOIN rt4chart_verifications AS v FINAL "
    "ON c.TraceId = v.TraceId",
    "SELECT v.ServiceName FROM rt4chart_claims AS c FINAL JOIN rt4chart_verifications AS v FINAL "
    "ON c.TraceId = v.TraceId",
    "SELECT ServiceName FROM rt4chart_claims WHERE (TraceId, SpanId) IN "
    "(SELECT TraceId, SpanId FROM rt4chart_verifications WHERE Decision = 'verified')",
)
VIEWS = ("rt4chart_rates", "rt4chart_coverage", "rt4chart_unfaithful_claims")
SUMS = """
SELECT Route, VerifierId, sum(Answers), sum(Claims) FROM rt4chart_route_1m
GROUP BY ALL ORDER BY ALL
"""


def opened(folder: Path, database: str, more: str = "") -> Client:
    """A handle of its own to the engine of this process."""
    config = folder / "config.xml"
    config.write_text(CONFIG % more)
    path = f"{folder / 'db'}?config-file={config}"
    driver = clickhouse_connect.get_client(interface="chdb", path=path)
    driver.command(f"CREATE DATABASE IF NOT EXISTS {database}")
    driver.database = database
    return Client(driver, Target(database, path=path))


def build(client: Client) -> None:
    """The cluster's tables, without what replicates; each shard sees the rows that are its."""
    variant = SchemaVariant(client.database, "prod")
    for statement in (
        *variant.ledger_statements()[1:],
        *(s for m in ALL for s in variant.statements(m, ALL)),
    ):
        text = statement.replace(" ON CLUSTER 'prod'", "").replace("= Replicated", "= ")
        for path in (SHARD_PATH, UNSHARDED_PATH):
            text = text.replace(f"({path}, ", "(").replace(f"({path})", "")
        client.command(text)
    keys = sharding_keys(s for m in ALL for s in SchemaVariant(client.database).statements(m, ALL))
    halves = ", ".join(
        f"'{client.database}.{table}{LOCAL_SUFFIX}': 'shardNum() = 0 OR {key} % 2 + 1 = shardNum()'"
        for table, key in keys.items()
    )
    client.command(f"SET additional_table_filters = {{{halves}}}")


def fill(client: Client) -> None:
    """Answers of thirty traces, twenty of them judged, some twice, one anew; letters, an issue."""
    insert_spans(
        client,
        [replace(SPAN, trace_id=one, span_id=one[16:], start_ns=NOON + 1) for one in IDS],
    )
    trail = (ClaimBlame(1, problem="no prompt"),)
    criteria = (CriterionVerdict("cites", "v1", "must_cite", CriterionOutcome.FAIL, "cites none"),)
    given = [
        replace(verdict(n, route=("support", "pay")[n % 2]), trail=trail, criteria=criteria)
        for n in range(1, 21)
    ]
    insert_verdicts(client, given)
    insert_verdicts(client, [replace(one, verifier="other/1") for one in given[:9]])
    again = verdict(2, [Label.ENTAILED], decided_ns=NOON + 60 * SECOND)
    insert_verdicts(client, [again])
    letter = outcome_of(error(InputError("malformed")), None).letter
    assert letter is not None
    waiting = replace(letter, trace_id=IDS[1], state=LetterState.WAITING)
    insert_letters(client, [letter, waiting])
    insert_issues(client, [ISSUE], version=1)
    insert_issues(client, [replace(ISSUE, title="later")], version=2)
    client.command(ASSIGN)


def read(client: Client, folder: Path) -> Iterator[tuple[str, object]]:
    """What every query of the project gives."""
    candidates = [verdict(n).candidate for n in range(1, 31)]
    yield "rates", route_sums(client)
    yield "answers", [asdict(one) for one in verified_answers(client)]
    yield "failures", sorted(map(str, failures(client, since_ns=0)))
    yield "agreement", judge_agreements(client, since_ns=0)
    yield "unverified", unverified_traces(client, VERIFIER, 0, 100)
    yield "spans", spans_of(client, IDS)
    yield "decided", already_decided(client, candidates, VERIFIER)
    yield "letters", (due_letters(client, "v", 2**62, 9), letter_counts(client, "v"))
    yield "issues", list_issues(client)
    yield "members", member_keys(client, ISSUE, limit=50)
    days = failures_by_day(client, now_ns=NOON + DAY_NS, days=7)
    yield "traffic", (sorted(map(str, days)), decided_claims(client, now_ns=NOON, days=7))
    keys = [(candidate.trace_id, candidate.span_id) for candidate in candidates]
    faithful = faithful_answers(client, service="shop", route="pay", limit=50)
    last = last_verifications(client, keys)
    yield "last", (sorted(map(str, last.values())), sorted(map(str, faithful)))
    with_word = AnswerFilter(QueryScope(), terms=(FilterTerm("", "trial"),))
    for order in ORDERS:
        for one in (with_word, replace(with_word, terms=())):
            page = answer_page(client, one, order=order, limit=7)
            rest = answer_page(client, one, order=order, limit=99, after=page.after)
            yield f"list {order} {len(one.terms)}", (page, rest)
    yield from rated(client)
    yield from labelled(client)
    yield "view", client.query(VERIFIED, {"ids": IDS}).result_rows
    yield "sums", client.query(SUMS).result_rows
    for route in ("", "pay"):
        times = datetime(2096, 1, 1, tzinfo=UTC), datetime(2097, 1, 1, tzinfo=UTC)
        wanted = ExportRequest(*times, route, "jsonl", folder / f"{client.database}{route}")
        for name in SOURCES:
            pages = [path.read_text() for path in export_table(client, name, wanted)]
            hidden = [
                line.partition('"InsertedAt"')[0] for page in pages for line in page.split("\n")
            ]
            yield f"export of {name} {route}".strip(), sorted(hidden)
    yield "grouping", list(grouped(client))


def rated(client: Client) -> Iterator[tuple[str, object]]:
    """The rates from the answers per five minutes, and the views for those who ask themselves."""
    scope = QueryScope(NOON - DAY_NS, NOON + DAY_NS, VERIFIER)
    yield "verifiers", main_verifier(client, NOON + SECOND)
    yield "ticks", route_ticks(client, scope)
    by = [rates_by(client, dimension, scope) for dimension in DIMENSIONS]
    points = rates_over_time(client, scope.of_route("shop", "pay"), step_s=3600)
    yield "breakdown", (by, points)
    yield "coverage", coverage(client, scope)
    yield "criteria", criteria_rates(client, scope)
    for name in VIEWS:
        query = f"SELECT * FROM {name} ORDER BY ALL"  # noqa: S608 - names written here
        yield name, client.query(query).result_rows


def labelled(client: Client) -> Iterator[tuple[str, object]]:
    """A draw of claims, and the rates that labels on them correct."""
    scope = QueryScope(NOON - DAY_NS, NOON + DAY_NS, VERIFIER)
    draw = draw_claims(client, DrawRequest(scope, 15, "ann"), now_ns=scope.until_ns)
    yield "draw", draw
    label_all(client, draw.queue)
    rates = corrected_rates(client, scope)
    yield "corrected", (rates, draw_rates(client, draw))
    write_corrected_rates(client, rates, scope)
    yield "history", corrected_history(client, scope)


def grouped(client: Client) -> Iterator[object]:
    """What runs make of the failures, some of them judged anew between the two."""
    for at in (1, 2):
        yield group_failures(
            client, HashingEmbedder(), HdbscanGrouping(3), since_ns=0, now_ns=2**62 + at
        )
        issues = [replace(issue, centroid=()) for issue in list_issues(client)]
        yield sorted(map(str, issues))
        for issue in issues:
            yield str(assignments_of(client, issue.ids)), issue_profile(client, issue.ids)
            yield nearer_assignments(
                client, issue.ids, model="hashing/1", to=[1.0] * 256, than=[-1.0] * 256
            )
        window = DescriptionWindow("hashing/1", 256, 0, 2**62)
        drawn = sampled_vectors(client, window, [issue.id for issue in issues], each=9)
        yield sorted((id, len(vectors)) for id, vectors in drawn.items())
        insert_verdicts(client, [verdict(4, decided_ns=NOON + 90 * SECOND)])
        insert_verdicts(client, [verdict(6, [Label.ENTAILED], decided_ns=NOON + 90 * SECOND)])


def main(folder: Path) -> None:
    """Both kinds side by side."""
    with opened(folder, "single") as single, opened(folder, "many") as many:
        migrate(single)
        build(many)
        fill(single)
        try:
            unverified_traces(many, VERIFIER, 0, 100)
        except StoreError as refused:
            is_told = "DISTRIBUTED_IN_JOIN_SUBQUERY_DENIED" in str(refused)
            sys.stdout.write(f"without the settings: {'refused' if is_told else refused}\n")
        many.query(VERIFIED, {"ids": IDS})
        sys.stdout.write("the view without the settings: read\n")
        many.set_settings(CLUSTER_SETTINGS)
        fill(many)
        expected = dict(read(single, folder))
        for name, found in read(many, folder):
            is_same = found == expected[name]
            told = "the same" if is_same else f"{found} instead of {expected[name]}"
            sys.stdout.write(f"{name}: {told if found else 'nothing'}\n")
        shards = many.query(
            "SELECT shardNum(), count() FROM rt4chart_claims GROUP BY 1"
        ).result_rows
        sys.stdout.write(f"shards with claims: {len(shards)}\n")
        many.command(f"TRUNCATE TABLE rt4chart_route_1m{LOCAL_SUFFIX}")
        repair_rollup(many, 0)
        is_repaired = many.query(SUMS).result_rows == single.query(SUMS).result_rows
        sys.stdout.write(f"rollup after its repair: {'the same' if is_repaired else 'other'}\n")
        sys.stdout.write(f"rows of a batch that came twice: {twice(many)}\n")
        for line in pruned(many, expected):
            sys.stdout.write(f"{line}\n")
        sys.stdout.write(f"services that a tenant reads: {read_of_tenant(many)}\n")


def pruned(client: Client, expected: Mapping[str, object]) -> Iterator[str]:
    """What look-ups by trace ask and find where they ask the shard of the trace alone.

    Without the filters of the halves, each shard that is asked gives the row: it has all of them.
    """
    halves, whole = "additional_table_filters", "SET additional_table_filters = {}"
    (kept,) = client.query(
        "SELECT value FROM system.settings WHERE name = {name:String}", {"name": halves}
    ).result_rows[0]
    asked = f"SELECT count() FROM otel_traces WHERE TraceId = '{IDS[0]}'"  # noqa: S608
    client.command(whole)
    yield f"pruning of misplaced rows: {pruning_problem(client)}"
    yield f"shards asked for a trace: {client.query(asked).result_rows[0][0]}"
    client.command(f"SET additional_table_filters = {kept}")
    set_cluster_options(client, pruning=True, quorum="")
    # Refuses a look-up that could ask fewer shards and does not.
    forced = {"force_optimize_skip_unused_shards": "2"}
    client.command(whole)
    yield f"shards asked with pruning: {client.query(asked, settings=forced).result_rows[0][0]}"
    client.command(f"SET additional_table_filters = {kept}")
    candidates = [verdict(n).candidate for n in range(1, 31)]
    client.set_settings(forced)
    letters_of(client, IDS, VERIFIER)
    found = (spans_of(client, IDS), already_decided(client, candidates, VERIFIER))
    client.set_settings(dict.fromkeys(forced, "0"))
    is_same = found == (expected["spans"], expected["decided"])
    yield f"look-ups with pruning: {'the same' if is_same else found}"


def read_of_tenant(client: Client) -> str:
    """The services in what somebody reads who may see one tenant of two, from all shards.

    The filters of the halves do not apply to it: each shard gives all rows, as if it were alone.
    """
    for tenant in ("acme", "zeta"):
        service = f"~{tenant}/shop"
        for number in range(1, 9):
            one = verdict(number)
            insert_verdicts(
                client, [replace(one, candidate=replace(one.candidate, service=service))]
            )
        resource = {"service.name": f"shop of {tenant}", TENANT: tenant}
        insert_spans(client, [replace(SPAN, trace_id=IDS[0], resource=resource)])
    own = TenantClient(client, "acme")
    found = {str(name) for query in OF_TENANT for (name,) in own.query(query).result_rows}
    return ", ".join(sorted(found))


def twice(client: Client) -> int:
    """A batch with a token, sent twice through a Distributed table over one shard."""
    client.command(
        "CREATE TABLE batch_local (N UInt8) ENGINE = MergeTree ORDER BY N "
        "SETTINGS non_replicated_deduplication_window = 10"
    )
    client.command(
        "CREATE TABLE batch AS batch_local ENGINE = Distributed('one', many, batch_local, N)"
    )
    for _ in range(2):
        client.insert("batch", [[1], [2]], ["N"], settings={"insert_deduplication_token": "t"})
    ((count,),) = client.query("SELECT count() FROM batch").result_rows
    return int(count)


def replicate(folder: Path) -> None:
    """The tables with what replicates, made and not written: where Keeper has them."""
    client = opened(folder, "copies", KEEPER)
    variant = SchemaVariant("copies", "prod")
    for statement in (
        *variant.ledger_statements()[1:],
        *(s for m in ALL for s in variant.statements(m, ALL)),
    ):
        if statement.startswith("CREATE TABLE"):
            client.command(statement.replace(" ON CLUSTER 'prod'", ""))
    for table, path, name in client.query(REPLICAS).result_rows:
        sys.stdout.write(f"{table} {path} {name}\n")
    sys.stdout.flush()
    # They wait for a Keeper that answers, and would not let the process end.
    os._exit(0)


if __name__ == "__main__":
    {"shards": main, "replicas": replicate}[sys.argv[1]](Path(sys.argv[2]))
