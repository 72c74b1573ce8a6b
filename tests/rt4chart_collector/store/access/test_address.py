"""The two files beside the database: secrets for their owner alone."""

from __future__ import annotations

from pathlib import Path

from rt4chart_collector.store.access.address import (
    ADDRESS_FILE,
    TOKEN_FILE,
    Address,
    address_in,
    address_left,
    read_token,
)


def mode_of(file: Path) -> int:
    """Who may do what with it."""
    return file.stat().st_mode & 0o777


def test_token_is_made_once_for_its_owner(tmp_path: Path) -> None:
    """It stays from start to start, and nobody else may read it."""
    first = read_token(tmp_path)
    (tmp_path / TOKEN_FILE).chmod(0o644)

    assert read_token(tmp_path) == first
    assert len(first) >= 43
    assert mode_of(tmp_path / TOKEN_FILE) == 0o600


def test_token_that_is_given_is_not_written(tmp_path: Path) -> None:
    """A secret from the settings stays there."""
    assert read_token(tmp_path, "given") == "given"
    assert list(tmp_path.iterdir()) == []


def test_address_lies_there_while_the_service_runs(tmp_path: Path) -> None:
    """It is found meanwhile and gone afterwards; what cannot be read is none."""
    address = Address("http://127.0.0.1:8124", "secret")

    with address_left(tmp_path, address):
        assert address_in(tmp_path) == address
        assert mode_of(tmp_path / ADDRESS_FILE) == 0o600
        assert "secret" in (tmp_path / ADDRESS_FILE).read_text()

    assert address_in(tmp_path) is None
    (tmp_path / ADDRESS_FILE).write_text("[]")
    assert address_in(tmp_path) is None
