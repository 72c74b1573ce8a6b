"""The report: what stands in it, and what may not."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from rt4chart_collector.report.gather import gather_report, trend_step_s
from rt4chart_collector.report.page import render_report
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import TABLES
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict
from tests.rt4chart_collector.store.labels.label_rows import label_all

HOUR = 3600 * SECOND
SCOPE = QueryScope(NOON - 2 * HOUR, NOON + 2 * HOUR, VERIFIER)
GOOD, BAD, DENIED = Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED
EVIL = "<script>alert(1)</script>\"' \u202e"


def of(one: Verdict, **facts: object) -> Verdict:
    """The verdict with other facts of its answer."""
    return replace(one, candidate=replace(one.candidate, **facts))  # type: ignore[arg-type]


def told(client: Client, *, console: str = "", has_texts: bool = True) -> str:
    """The page on the period."""
    report = gather_report(client, SCOPE)
    return render_report(report, made_ns=NOON, console=console, has_texts=has_texts)


class Tags(HTMLParser):
    """The elements of a page, with what they ask for."""

    def __init__(self, text: str) -> None:
        """Read it whole."""
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.names.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action")]


def test_rates_stand_with_interval_and_number(any_client: Client) -> None:
    """Of all routes and of each, with what it was before."""
    earlier = of(verdict(9, [GOOD, GOOD, BAD]), start_ns=NOON - 5 * HOUR)
    insert_verdicts(any_client, [verdict(1, [GOOD, DENIED]), verdict(2, [GOOD, BAD]), earlier])

    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", told(any_client)))

    assert "50.0%" in text
    assert "n = 4 of 2" in text
    assert re.search(
        r"\+16\.7 points \(−\d+\.\d to \+\d+\.\d\) from 33\.3% \(n = 3\); no difference can", text
    )
    assert "1 of 2 claims" in text


def test_the_change_of_all_routes_is_of_those_that_both_periods_have(any_client: Client) -> None:
    """More traffic on a worse route is no change: each route is as it was."""

    def route(name: str, good: int, bad: int, first: int, start_ns: int) -> list[Verdict]:
        labels = [GOOD] * good + [BAD] * bad
        return [
            verdict(first + at, [label], route=name, start_ns=start_ns, sample_rate=1.0)
            for at, label in enumerate(labels)
        ]

    insert_verdicts(
        any_client,
        [
            *route("safe", 50, 0, 1000, NOON - 5 * HOUR),
            *route("risky", 5, 5, 2000, NOON - 5 * HOUR),
            *route("safe", 50, 0, 3000, NOON),
            *route("risky", 50, 50, 4000, NOON),
            *route("added", 0, 40, 5000, NOON),
        ],
    )

    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", told(any_client)))

    total = text[text.index("Unfaithful claims 4") : text.index("Misleading claims ")]
    assert re.search(r"0\.0 points \(−.* to \+.*\) from (.*)% .* to \1% on the 2 routes of", total)
    assert "each weighted alike; no difference can be told" in total


def misleads(one: Verdict, status: ClaimStatus = ClaimStatus.CHERRY_PICKED) -> Verdict:
    """The verdict with its first claim misleading, and the other entailed ones supported."""
    assert one.report is not None
    first, *rest = one.report.claims
    others = [
        replace(each, status=ClaimStatus.SUPPORTED if each.label is GOOD else each.status)
        for each in rest
    ]
    claims = (replace(first, status=status), *others)
    return replace(one, report=replace(one.report, claims=claims))


def test_both_rates_stand_apart_with_the_statuses_behind_them(any_client: Client) -> None:
    """Each with its interval, n and change; the answers of each measure in lists of their own."""
    earlier = of(misleads(verdict(9, [GOOD, GOOD, GOOD])), start_ns=NOON - 5 * HOUR)
    insert_verdicts(
        any_client, [misleads(verdict(1, [GOOD] * 2)), verdict(2, [GOOD, BAD]), earlier]
    )

    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", told(any_client)))

    route = text[text.index("support shop") : text.index("Unfaithful claims are contradicted")]
    assert route.strip() == (
        "support shop unfaithful 25.0% 3.7–74.4% n = 4 of 2 +25.0 points (−42.6 to +74.4) from "
        "0.0% (n = 3); no difference can be told misleading 25.0% 3.7–74.4% n = 4 of 2 −8.3 points "
        "(−62.6 to +48.7) from 33.3% (n = 3); no difference can be told contradicted 0.0% · "
        "baseless 25.0% · undecided 0.0% of claims · answers with an unfaithful claim 50.0% · "
        "of 2 answers 2 verified, 0 sampled out, 0 not verifiable What is wrong with claims "
        "(n = 4) status share of the decided claims before cherry-picked 25.0% 33.3% Answers with "
        "the most unfaithful "
        "claims 1 of 2 claims · ! baseless “The trial lasts 14 days.” "
        f"{2:032x}, 2096-10-02 07:06 Answers with the most misleading claims 1 of 2 claims · "
        f"cherry-picked “The trial lasts 14 days.” {1:032x}, 2096-10-02 07:06"
    )


def test_a_corrected_rate_stands_beside_the_judges_with_what_labels_say_of_it(
    any_client: Client,
) -> None:
    """People call three claims in ten wrong, whatever the judge said of them."""
    insert_verdicts(any_client, [verdict(number, [GOOD, BAD]) for number in range(1, 31)])
    hint = "These rates contain the judge's errors. To correct them"
    assert hint in told(any_client).replace("&#39;", "'")
    scope = replace(SCOPE, until_ns=NOON + HOUR)
    draw = draw_claims(any_client, DrawRequest(scope, 40, "ann"), now_ns=NOON + HOUR)
    label_all(any_client, draw.queue[:12])

    few = " ".join(re.sub(r"<[^>]+>", " ", told(any_client)).split())
    label_all(any_client, draw.queue)
    text = " ".join(re.sub(r"<[^>]+>", " ", told(any_client)).split())

    assert "corrected unknown: 8 more labels for a corrected rate" in few
    of_route = text[text.index("support shop") :]
    assert of_route.startswith(
        "support shop unfaithful 50.0% 37.7–62.3% n = 60 of 30 (no answers in the period before) "
        "corrected 43.1% 28.4–58.9% of all claims, from 40 labels; labels on the 20 other claims "
        "give ± 12.5 points; ± 5 points take more answers "
        "what the labels say of the judge: precision 39.1% 21.9–59.6% (flagged claims that are "
        "wrong) · recall 45.4% 28.8–63.3% (wrong claims that it flags) misleading 0.0%"
    )
    assert "A corrected rate is the share of all claims that are unfaithful" in text
    assert "rt4chart label" not in text


def test_a_route_that_nothing_was_drawn_from_says_how_to_draw(any_client: Client) -> None:
    """Its answers began after the last draw."""
    insert_verdicts(any_client, [verdict(number, [GOOD, BAD]) for number in range(1, 31)])
    draw_claims(any_client, DrawRequest(SCOPE, 40, "ann"), now_ns=NOON + HOUR)
    insert_verdicts(any_client, [of(verdict(50, [BAD]), route="new", start_ns=NOON + HOUR)])

    text = " ".join(re.sub(r"<[^>]+>", " ", told(any_client)).split())

    assert (
        "corrected unknown: 20 more labels for a corrected rate (labels were drawn from 0.0% of "
        "the claims: rt4chart label --draw draws from these)"
    ) in text


def test_answers_of_earlier_versions_are_in_no_misleading_rate(any_client: Client) -> None:
    """They were not checked, which is not the same as no misleading claim."""
    insert_verdicts(any_client, [verdict(1, [GOOD, BAD])])
    for table in TABLES.values():
        any_client.command(f"TRUNCATE TABLE {table}")
    row: dict[str, object] = {"ServiceName": "shop", "Route": "support", "VerifierId": VERIFIER}
    row |= {"Tick": NOON // SECOND // 300 * 300, "Decision": "verified", "SampleRate": 1.0}
    row |= {"Decided": 2, "Unfaithful": 1, "Answers": 1, "Baseless": 1}
    any_client.insert("rt4chart_route_5m", [list(row.values())], list(row))

    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", told(any_client)))

    assert "Misleading claims not checked" in text
    assert "misleading not checked" in text


def test_what_answers_were_made_with_is_compared(any_client: Client) -> None:
    """Where there was more than one of it."""
    both = [
        of(verdict(1, [GOOD]), model="small", release="1.0"),
        of(verdict(2, [BAD]), model="large", release="1.0"),
    ]
    insert_verdicts(any_client, both)

    text = told(any_client)

    assert "By model" in text
    assert "By release" not in text


def test_ten_releases_are_shown_of_as_many_as_there_are(any_client: Client) -> None:
    """Those with the most answers, with the number of all and what so many look like."""
    many = [of(verdict(at, [GOOD]), release=f"build-{at:03}") for at in range(1, 60)]
    insert_verdicts(any_client, [*many, of(verdict(90, [BAD]), release="build-059")])

    text = told(any_client)

    assert len(set(re.findall(r"build-\d+", text))) == 10
    assert "build-059" in text
    assert "10 of 59 releases. So many look as if each name carries an id" in text
    assert "service.version" in text


def test_it_asks_for_nothing_and_runs_nothing(any_client: Client) -> None:
    """No element that loads or runs; links only where an address of the console is given."""
    hostile = of(verdict(1, [BAD, DENIED]), route=EVIL, model=EVIL, service=EVIL)
    insert_verdicts(any_client, [hostile, of(verdict(2, [BAD]), route=EVIL, service=EVIL)])
    insert_issues(any_client, [issue(EVIL)], version=1)

    alone, linked = Tags(told(any_client)), Tags(told(any_client, console="https://c.example/"))

    assert not alone.names & {"script", "link", "img", "iframe", "form", "object"}
    assert alone.links == []
    assert not linked.names & {"script", "link", "img"}
    places = [one.startswith("https://c.example/") for one in linked.links]
    assert places == [True] * 3
    assert "<script>" not in told(any_client)


def test_texts_may_be_left_out(any_client: Client) -> None:
    """Then nothing that an answer said is in it, and no issue's title; the figures are."""
    one = verdict(1, [BAD])
    assert one.report is not None
    insert_verdicts(any_client, [one])
    insert_issues(any_client, [issue("Zanzibar stated as covered")], version=1)
    claim = one.report.claims[0].text

    full, bare = told(any_client), told(any_client, has_texts=False)

    assert claim in full
    assert "Zanzibar" in full
    assert claim not in bare
    assert "Zanzibar" not in bare
    assert "100.0%" in bare


def test_a_time_without_answers_says_what_to_do(any_client: Client) -> None:
    """No rate of nothing."""
    text = told(any_client)

    assert "No claims were decided in this period" in text
    assert "%" not in re.sub(r"<style>.*</style>", "", text, flags=re.S).split("<footer")[0]


@pytest.mark.parametrize(("days", "step_s"), [(1 / 24, 300), (1, 900), (7, 7200), (30, 30600)])
def test_a_trend_has_about_as_many_steps_whatever_the_time(days: float, step_s: int) -> None:
    """Whole ticks of five minutes."""
    scope = QueryScope(NOON - round(days * 24 * HOUR), NOON)

    assert trend_step_s(scope) == step_s
    assert scope.before.until_ns == scope.since_ns


def issue(title: str) -> Issue:
    """An issue that was seen in the period."""
    return Issue(
        id=7,
        title=title,
        fingerprint="fp2:baseless:other",
        service="shop",
        route="support",
        first_ns=NOON,
        last_ns=NOON,
        claims=1,
        centroid=(1.0,),
        run="r",
        model="hashing/1",
    )
