"""How far raters agree, however many there are."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.rater_agreement import MAX_RATERS, rater_agreement
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, LabelRow
from tests.rt4chart_collector.store.labels.label_rows import draw, insert_answers, label_of


def test_thousands_of_raters_are_bounded(client: Client) -> None:
    """An imported file may have them: the pairs of 20,000 raters once took all memory."""
    insert_answers(client, range(1, 6))
    given = [label_of(row) for row in draw(client).queue[:3]]

    def labels_of(raters: int) -> list[LabelRow]:
        """Every seventh calls its claims baseless."""
        kinds = {0: GivenLabel.BASELESS}
        return [
            replace(one, rater=f"r{n:05}", label=kinds.get(n % 7, one.label))
            for n in range(raters)
            for one in given
        ]

    many, few = labels_of(4_000), rater_agreement(labels_of(MAX_RATERS))
    tracemalloc.start()
    found = rater_agreement(many)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found.labels == {f"r{n:05}": 3 for n in range(4_000)}
    assert (found.alpha, found.by_rater) == (few.alpha, few.by_rater)
    assert few.by_rater.keys() == {f"r{n:05}" for n in range(MAX_RATERS)}
    assert peak_bytes < 50e6
