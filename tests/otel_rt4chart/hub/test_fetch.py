from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from otel_rt4chart.core.errors import HubError
from otel_rt4chart.hub.catalogue import CatalogueModel
from otel_rt4chart.hub.client import Hub
from otel_rt4chart.hub.fetch import fetch
from otel_rt4chart.hub.record import read_record
from otel_rt4chart.verify import Exchange, Label, OnnxJudge, Passage, Verifier
from tests.otel_rt4chart.hub.stand_in import COMMIT, StandInHub, repository
from tests.otel_rt4chart.verify.neural.made import save_model

MODEL = CatalogueModel(
    name="toy",
    repo="somebody/toy",
    revision=COMMIT,
    licence="mit",
    kind="pair",
    architecture="ToyForSequenceClassification",
    size=10_000,
    figures=(),
)
TEXT = "The pool is heated."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model with the architecture of `MODEL`."""
    folder = save_model(tmp_path_factory.mktemp("hub") / "toy")
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = [MODEL.architecture]
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def hub(made: Path) -> Iterator[StandInHub]:
    """A hub with that model."""
    with StandInHub({MODEL.repo: repository(made)}) as server:
        yield server


@pytest.fixture
def get(hub: StandInHub, tmp_path: Path) -> Callable[..., Any]:
    """Fetches a model from the hub into the folder `toy`."""

    def run(model: CatalogueModel = MODEL, **more: Any) -> Any:  # noqa: ANN401
        return fetch(model, tmp_path / "toy", lambda: Hub(hub.url), **more)

    return run


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client writes a block when it is complete, and its blocks of 10 MB are for real files."""
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1_000)


def refused(get: Callable[..., Any], model: CatalogueModel = MODEL, **more: Any) -> str:  # noqa: ANN401
    """What is said of a fetch that fails, which is one line."""
    with pytest.raises(HubError) as caught:
        get(model, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_fetched_model_judges_and_has_a_record(
    get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """Of where it is from, of every file's hash, and of its licence."""
    fetched = get()

    folder = tmp_path / "toy"
    report = Verifier(OnnxJudge(folder)).verify(Exchange("", [Passage("p", TEXT)], TEXT))
    record = read_record(folder)
    assert [claim.label for claim in report.claims] == [Label.ENTAILED]
    assert fetched == type(fetched)(folder, record, is_new=True)
    assert record is not None
    assert (record.name, record.licence, record.converted) == ("toy", "mit", {})
    assert (record.sources[0].repo, record.sources[0].commit) == (MODEL.repo, COMMIT)
    assert dict(record.files) == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("model.onnx", "tokenizer.json", "config.json")
    }
    assert [one.name for one in tmp_path.iterdir()] == ["toy"]
    assert sorted(hub.files_asked()) == ["config.json", "model.onnx", "tokenizer.json"]


def test_what_is_there_needs_no_hub(get: Callable[..., Any], tmp_path: Path) -> None:
    """Its hashes are compared with the record, not with the network."""

    def no_hub() -> Hub:
        raise AssertionError("the hub was asked")

    get()

    assert not fetch(MODEL, tmp_path / "toy", no_hub).is_new


def test_the_labels_of_the_catalogue_are_recorded_for_the_judge(
    get: Callable[..., Any], tmp_path: Path
) -> None:
    """They count in place of those in config.json."""
    get(replace(MODEL, labels="contradicted,baseless,entailed"))

    report = Verifier(OnnxJudge(tmp_path / "toy")).verify(Exchange("", [Passage("p", TEXT)], TEXT))

    assert [claim.label for claim in report.claims] == [Label.CONTRADICTED]


def test_weights_beside_the_model_come_with_it(made: Path, tmp_path: Path) -> None:
    """From the folder in which exporters put them, and nothing else does."""
    files = repository(made).files
    files["onnx/model.onnx"] = files.pop("model.onnx")
    files |= {"onnx/model.onnx_data": b"weights", "onnx/model_O4.onnx": b"x", "README.md": b"x"}
    source = replace(repository(made), files=files)

    with StandInHub({MODEL.repo: source}) as hub:
        fetch(MODEL, tmp_path / "toy", lambda: Hub(hub.url))

    found = [
        one.relative_to(tmp_path / "toy").as_posix() for one in (tmp_path / "toy").rglob("*.*")
    ]
    assert sorted(found) == [
        "config.json",
        "onnx/model.onnx",
        "onnx/model.onnx_data",
        "rt4chart.json",
        "tokenizer.json",
    ]


@pytest.mark.parametrize(("file", "kind"), [("model.onnx", "SHA-256"), ("config.json", "git id")])
def test_other_bytes_than_the_hub_told_are_refused(
    file: str, kind: str, get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """They are deleted and never used; once they are right, the command goes on."""
    source = hub.repositories[MODEL.repo]
    source.sent[file] = bytes(len(source.files[file]))

    told = refused(get)

    assert f"{MODEL.repo}, {file}: expected {len(source.files[file])} bytes with the {kind}" in told
    assert "the file was deleted: run the command again" in told
    assert not (tmp_path / "toy").exists()
    source.sent.clear()
    assert get().is_new


def test_a_hash_on_public_record_must_be_the_hubs(get: Callable[..., Any], hub: StandInHub) -> None:
    """Before a byte is downloaded."""
    told = refused(get, replace(MODEL, sha256={"model.onnx": "0" * 64}))

    assert f"model.onnx: expected the SHA-256 {'0' * 64}, the hub answers with" in told
    assert hub.files_asked() == []


def test_a_hub_that_answers_with_another_commit_is_refused(
    get: Callable[..., Any], hub: StandInHub
) -> None:
    """A pin names one commit."""
    hub.repositories[MODEL.repo].commit = "b" * 40
    hub.repositories["x/y"] = hub.repositories[MODEL.repo]

    assert "the hub has no such revision" in refused(get)
    hub.repositories[MODEL.repo].commit = "c0ffee"
    told = refused(get, replace(MODEL, revision="c0ffee"))
    assert "expected the commit c0ffee, the hub answers with c0ffee: do not use it" in told


def test_without_a_pin_the_first_fetch_makes_one(
    get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """The record's commit counts from then on, also where the hub has a newer one."""
    unpinned, source = replace(MODEL, revision="main"), hub.repositories[MODEL.repo]
    get(unpinned)
    source.commit = "d" * 40

    assert not get(unpinned).is_new
    assert "the hub has no such revision" in refused(get, unpinned, anew=True)
    assert get(unpinned, revision="d" * 40).record.sources[0].commit == "d" * 40


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_later_change_under_the_same_commit_is_refused(
    file: str, get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """The bytes of the first fetch stay."""
    get()
    source = hub.repositories[MODEL.repo]
    source.files[file] += b" "
    before = (tmp_path / "toy" / file).read_bytes()
    hub.asked.clear()

    told = refused(get, anew=True)

    assert "of the first fetch, the hub now answers with" in told
    assert (tmp_path / "toy" / file).read_bytes() == before
    # What the hub tells of a large file is enough.
    assert (hub.files_asked() == []) == (file == "model.onnx")


def test_a_file_that_was_changed_on_disk_is_refused(
    get: Callable[..., Any], tmp_path: Path
) -> None:
    """Until the model is fetched again."""
    get()
    (tmp_path / "toy/tokenizer.json").write_text("{}")

    assert "tokenizer.json: expected the SHA-256" in refused(get)
    assert get(anew=True).is_new
    (tmp_path / "toy/config.json").unlink()
    assert "found no file: fetch the model again with --replace" in refused(get)
    (tmp_path / "toy/rt4chart.json").write_text("{")
    assert "expected the record of a fetched model" in refused(get)


@pytest.mark.usefixtures("small_blocks")
def test_a_cut_download_is_resumed_at_once(
    get: Callable[..., Any], hub: StandInHub, made: Path, tmp_path: Path
) -> None:
    """Where the connection broke, by a range."""
    source = hub.repositories[MODEL.repo]
    source.cut, source.after_cut = {"model.onnx": 2_000}, 0

    get()

    ranges = [asked for path, asked in hub.asked if path.endswith("model.onnx")]
    assert ranges == ["", "bytes=2000-"]
    assert (tmp_path / "toy/model.onnx").read_bytes() == (made / "model.onnx").read_bytes()


@pytest.mark.usefixtures("small_blocks")
def test_a_cut_download_is_resumed_by_the_next_command(
    get: Callable[..., Any], hub: StandInHub, made: Path, tmp_path: Path
) -> None:
    """Nothing is in place before, and what was downloaded is not asked for again."""
    source = hub.repositories[MODEL.repo]
    source.cut = {"model.onnx": 2_000}

    told = refused(get)
    there = (tmp_path / "toy").exists()
    source.failing.clear()
    hub.asked.clear()
    get()

    assert "answered 503: run the command again later; it continues where it stopped" in told
    assert not there
    assert [one for one in hub.asked if "/resolve/" in one[0]] == [
        (f"/{MODEL.repo}/resolve/{COMMIT}/model.onnx", "bytes=2000-")
    ]
    assert (tmp_path / "toy/model.onnx").read_bytes() == (made / "model.onnx").read_bytes()


@pytest.mark.usefixtures("small_blocks")
def test_a_part_of_another_file_is_not_continued(
    get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """Parts are named by their content, and a part that is too long is thrown away."""
    source = hub.repositories[MODEL.repo]
    source.cut = {"model.onnx": 2_000}
    refused(get)
    source.failing.clear()
    source.files["model.onnx"] = source.files["model.onnx"][:-1] + b" "
    hub.asked.clear()
    part = next(one for one in tmp_path.rglob("*.part") if one.stat().st_size == 2_000)
    part.write_bytes(bytes(10**6))

    with pytest.raises(Exception, match="expected an ONNX model"):
        get(check=OnnxJudge)  # the changed byte is no ONNX, and so never used

    assert ("", f"/{MODEL.repo}/resolve/{COMMIT}/model.onnx") in [(r, p) for p, r in hub.asked]
    assert not (tmp_path / "toy").exists()


def test_a_model_that_cannot_be_opened_never_takes_its_place(
    get: Callable[..., Any], tmp_path: Path
) -> None:
    """What was there stays."""
    get()
    before = read_record(tmp_path / "toy")

    def refuse(folder: Path) -> None:
        raise HubError(f"{folder.name} is no good")

    assert refused(get, anew=True, check=refuse) == "model is no good"
    assert read_record(tmp_path / "toy") == before
    OnnxJudge(tmp_path / "toy")


def test_a_hub_that_cannot_be_reached_is_said_in_one_line(tmp_path: Path) -> None:
    """With its address, and what to check."""
    with StandInHub({}) as hub:
        address = hub.url

    with pytest.raises(HubError) as caught:
        fetch(MODEL, tmp_path / "toy", lambda: Hub(address))

    assert str(caught.value).startswith(
        f"{MODEL.repo} at {COMMIT}: the hub at {address} cannot be reached, or broke off ("
    )
    assert "check the network and HF_ENDPOINT, and run the command again" in str(caught.value)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ((401, "RepoNotFound"), "expected a repository at"),
        ((403, "GatedRepo"), "accept them at"),
        ((404, "RevisionNotFound"), "the hub has no such revision"),
        ((500, ""), "answered 500: run the command again later"),
    ],
)
def test_what_the_hub_refuses_is_said_with_what_to_do(
    error: tuple[int, str], told: str, get: Callable[..., Any], hub: StandInHub
) -> None:
    """By its own codes."""
    hub.error = error

    assert told in refused(get)


def test_too_little_space_is_said_before_the_download(
    get: Callable[..., Any], hub: StandInHub
) -> None:
    """With what is needed and what there is."""
    hub.repositories[MODEL.repo].told["model.onnx"] = {"size": 10**18}

    assert "expected 1000000000.00 GB of free space, got" in refused(get)
    assert hub.files_asked() == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_fills_up_is_said(
    get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """And the next command goes on."""
    source = hub.repositories[MODEL.repo]
    mark = source.sibling("model.onnx")["lfs"]["sha256"][:40]
    parts = tmp_path / ".toy.partial/parts"
    parts.mkdir(parents=True)
    (parts / f"{mark}.part").symlink_to("/dev/full")

    told = refused(get)

    assert "model.onnx: the disk is full (No space left on device): free some space" in told
    assert not (tmp_path / "toy").exists()
    (parts / f"{mark}.part").unlink()
    assert get().is_new


def test_a_folder_that_cannot_be_made_is_said(hub: StandInHub, tmp_path: Path) -> None:
    """With the options that choose another one."""
    (tmp_path / "file").write_text("")

    with pytest.raises(HubError, match=r"expected a folder that can be written, got .*--dir"):
        fetch(MODEL, tmp_path / "file/models/toy", lambda: Hub(hub.url))


def test_a_folder_of_another_origin_is_left_alone(
    get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """A model that somebody exported is not replaced, whatever the options."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/model.onnx").write_text("mine")

    assert "found something else, which is left alone" in refused(get, anew=True)
    assert (tmp_path / "toy/model.onnx").read_text() == "mine"
    assert hub.asked == []


def test_another_architecture_costs_no_download(get: Callable[..., Any], hub: StandInHub) -> None:
    """Only its configuration is read."""
    other = replace(MODEL, architecture="DebertaV2ForSequenceClassification")

    told = refused(get, other)

    assert (
        "expected the architecture DebertaV2ForSequenceClassification, got "
        "ToyForSequenceClassification: this revision is another kind of model" in told
    )
    assert hub.files_asked() == ["config.json"]


@pytest.mark.parametrize(
    "config",
    [
        b"{",
        b"[]",
        b'{"architectures": null}',
        b"[" * 100_000,
        b'{"architectures": ["\\u001b[2J\\u0007"]}',
        b"{}" + b" " * 5_000_000,
    ],
)
def test_a_configuration_that_is_none_is_refused(
    config: bytes, get: Callable[..., Any], hub: StandInHub
) -> None:
    """In one line, in which nothing commands the terminal."""
    hub.repositories[MODEL.repo].files["config.json"] = config

    told = refused(get)
    assert told.startswith(MODEL.repo)
    assert told.isprintable()
    assert len(told) < 400


def test_a_size_that_is_none_is_refused(get: Callable[..., Any], hub: StandInHub) -> None:
    """As one that the hub does not tell."""
    hub.repositories[MODEL.repo].told["config.json"] = {"size": "7"}

    assert "config.json: expected the hub to tell size and hash, got -1" in refused(get)


def test_a_repository_without_a_model_is_refused(get: Callable[..., Any], hub: StandInHub) -> None:
    """With what is there."""
    hub.repositories[MODEL.repo].files = {"README.md": b"", "config.json": b"{}"}

    told = refused(get)

    assert "expected config.json with model.onnx, model.safetensors, pytorch_model.bin" in told
    assert told.endswith("found README.md, config.json")


def test_a_mirror_that_tells_no_hash_is_refused(get: Callable[..., Any], hub: StandInHub) -> None:
    """Nothing could be checked."""
    hub.repositories[MODEL.repo].told["model.onnx"] = {"blobId": None, "lfs": None}

    assert "expected the hub to tell size and hash" in refused(get)


def test_a_name_that_leaves_the_folder_is_refused(
    get: Callable[..., Any], hub: StandInHub, tmp_path: Path
) -> None:
    """Whatever the hub says."""
    hub.repositories[MODEL.repo].files["onnx/../../../model.onnx"] = b"x"
    files = hub.repositories[MODEL.repo].files
    files["model.onnx_data/../../x"] = b"x"

    assert "expected names of files, got 'model.onnx_data/../../x'" in refused(get)
