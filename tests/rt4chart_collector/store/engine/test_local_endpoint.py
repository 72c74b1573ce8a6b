"""The file beside the database: a secret for its owner alone, while the service runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rt4chart_collector.store.engine.embedded_folder import (
    ENDPOINT_FILE,
    LocalEndpoint,
    published_endpoint,
    read_endpoint,
)


def test_endpoint_is_there_while_the_service_runs(tmp_path: Path) -> None:
    """Other processes find it meanwhile; afterwards it is gone."""
    endpoint = LocalEndpoint(8124, "secret")

    with published_endpoint(tmp_path, endpoint):
        assert read_endpoint(tmp_path) == endpoint
        assert [file.name for file in tmp_path.iterdir()] == [ENDPOINT_FILE]

    assert list(tmp_path.iterdir()) == []
    assert read_endpoint(tmp_path) is None


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """Whatever the process's mask, and also where a killed service left its own behind."""
    (tmp_path / ENDPOINT_FILE).write_text("left behind")
    (tmp_path / ENDPOINT_FILE).chmod(0o666)
    mask = os.umask(0)
    try:
        with published_endpoint(tmp_path, LocalEndpoint(1, "secret")):
            mode = (tmp_path / ENDPOINT_FILE).stat().st_mode & 0o777
    finally:
        os.umask(mask)

    assert mode == 0o600


def test_each_start_has_another_secret() -> None:
    """Of 256 bits, which no error or log shows by accident."""
    first, second = LocalEndpoint(1), LocalEndpoint(1)

    assert first.token != second.token
    assert len(first.token) >= 43
    assert first.token not in repr(first)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"port": "x", "token": "y"}', "\udcff"])
def test_file_that_cannot_be_read_is_no_endpoint(tmp_path: Path, text: str) -> None:
    """Empty, of another form, or not UTF-8."""
    (tmp_path / ENDPOINT_FILE).write_bytes(text.encode(errors="surrogateescape"))

    assert read_endpoint(tmp_path) is None
