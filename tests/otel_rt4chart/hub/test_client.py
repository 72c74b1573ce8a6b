from __future__ import annotations

import sys
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import HubError, SettingsError
from otel_rt4chart.hub.client import Hub, HubFile, HubListing
from tests.otel_rt4chart.hub.stand_in import COMMIT, Repository, StandInHub


def test_a_listing_has_sizes_hashes_and_licence() -> None:
    """A large file has a SHA-256, a small one git's id."""
    files = {"a.onnx": b"abc", "config.json": b"{}"}

    with StandInHub({"a/b": Repository(files, licence="apache-2.0")}) as hub:
        found = Hub(hub.url).listing("a/b", "main")

    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert found == HubListing(
        "a/b",
        COMMIT,
        "apache-2.0",
        {
            "a.onnx": HubFile("a.onnx", 3, digest, "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f"),
            "config.json": HubFile(
                "config.json", 2, "", "9e26dfeeb6e641a33dae4961196235bdb965b21b"
            ),
        },
    )


def test_what_a_hub_says_reaches_no_terminal_as_a_command() -> None:
    """Neither escape sequences nor more lines; a file with such a name is none of the model's."""
    files = {"config.json": b"{}", "a\x1b[2J.onnx": b"abc"}

    with StandInHub({"a/b": Repository(files, commit="\x1b]0;x\n", licence="m\x1b[1mit")}) as hub:
        found = Hub(hub.url).listing("a/b", "main")

    assert (found.commit, found.licence, list(found.files)) == ("]0;x", "m [1mit", ["config.json"])


def test_a_listing_without_an_end_is_refused() -> None:
    """An address that is no hub may send anything; the memory is the command's."""
    endless = {"config.json": {"note": "x" * 5 * 2**20}}

    with (
        StandInHub({"a/b": Repository({"config.json": b"{}"}, told=endless)}) as hub,
        pytest.raises(HubError, match="the reply is larger than 4 MiB; check HF_ENDPOINT"),
    ):
        Hub(hub.url).listing("a/b", "main")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for every other extra."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(SettingsError, match=r"pip install 'otel-rt4chart\[hub\]'"):
        Hub()


def test_offline_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the client forbids every call."""
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    close_session()
    try:
        with pytest.raises(HubError, match="HF_HUB_OFFLINE forbids to ask the hub: unset it"):
            Hub("http://127.0.0.1:9").listing("a/b", "main")
    finally:
        close_session()


def test_a_part_with_too_many_bytes_is_thrown_away(tmp_path: Path) -> None:
    """Nothing can be appended to it."""
    (tmp_path / "part").write_bytes(b"too much")

    with StandInHub({"a/b": Repository({"a": b"abc"})}) as hub:
        Hub(hub.url).download("a/b", COMMIT, HubFile("a", 3, "x", ""), tmp_path / "part")

    assert (tmp_path / "part").read_bytes() == b"abc"


def test_a_file_gets_no_more_bytes_than_the_hub_told(tmp_path: Path) -> None:
    """A body without an end fills no disk."""
    endless = Repository({"a": b"abc"}, sent={"a": b"abc" * 10_000_000})

    with (
        StandInHub({"a/b": endless}) as hub,
        pytest.raises(HubError, match=r"a: expected 3 bytes, as .* told, got more: do not use"),
    ):
        Hub(hub.url).download("a/b", COMMIT, HubFile("a", 3, "x", ""), tmp_path / "part")

    assert (tmp_path / "part").stat().st_size <= 3


def test_a_whole_part_asks_for_nothing(tmp_path: Path) -> None:
    """It is only checked."""
    (tmp_path / "part").write_bytes(b"abc")

    with StandInHub({}) as hub:
        Hub(hub.url).download("a/b", COMMIT, HubFile("a", 3, "x", ""), tmp_path / "part")

    assert hub.asked == []
