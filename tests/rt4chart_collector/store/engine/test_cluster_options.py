"""What an operator may ask of a cluster: sent by every connection, refused where it would lose."""

from __future__ import annotations

from contextlib import closing

import pytest

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.cluster_options import pruning_problem, set_cluster_options
from rt4chart_collector.store.engine.connect import Client

SENT = "SELECT getSetting('insert_quorum'), getSetting('optimize_skip_unused_shards')"


def test_connections_of_all_threads_send_the_options(client: Client) -> None:
    """A quorum is of every insert, also of those by the connections that threads open later."""
    with closing(client.sibling()) as own:
        set_cluster_options(own, pruning=False, quorum="2")

        with closing(own.sibling()) as other:
            found = [one.query(SENT).result_rows for one in (client, own, other)]

    assert [str(rows[0][0]) for rows in found] == ["0", "2", "2"]


def test_pruning_stays_off_where_it_is_not_known_to_be_safe(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A single server has no shards: what is asked for is not set, and the log says why."""
    with closing(client.sibling()) as own:
        set_cluster_options(own, pruning=True, quorum="")
        ((_, pruning),) = own.query(SENT).result_rows

    assert str(pruning) in ("0", "False")
    assert "RT4CHART_CLUSTER_PRUNING stays off" in caplog.text
    assert pruning_problem(client) in caplog.text
    assert "otel_traces is not a Distributed table" in caplog.text


@pytest.mark.parametrize(
    ("asked", "name"),
    [({"cluster_pruning": True}, "CLUSTER_PRUNING"), ({"insert_quorum": "2"}, "INSERT_QUORUM")],
)
def test_an_embedded_database_has_neither(asked: dict[str, object], name: str) -> None:
    """The error names the setting that does not go with it."""
    with pytest.raises(
        SettingsError, match=f"RT4CHART_{name}: expected RT4CHART_DSN to name a ser"
    ):
        ServiceSettings(dsn="chdb:///tmp/db", **asked)  # type: ignore[arg-type]
