"""Brings a model of the catalogue into a folder: asks, checks, downloads, checks, converts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from otel_rt4chart.core.errors import HubError
from otel_rt4chart.hub.catalogue import CatalogueModel
from otel_rt4chart.hub.client import Hub, HubFile, HubListing
from otel_rt4chart.hub.convert import check_architecture, check_interpreter, convert
from otel_rt4chart.hub.record import (
    ModelRecord,
    ModelSourceRecord,
    check_files,
    git_blob_of,
    read_record,
    sha256_of,
    write_record,
)
from otel_rt4chart.verify.neural.model_folder import MODELS as ONNX_FILES

CONFIG, TOKENIZER = "config.json", "tokenizer.json"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first one there is: it runs no code
MAX_CONFIG_BYTES = 4 * 2**20  # those of models have a few kB
_TOKENIZER_FILES = (
    TOKENIZER,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "spm.model",
    "spiece.model",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
)
_COMMIT_LENGTH = 40

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The files to take of one revision, and whether weights must become an ONNX file."""

    listing: HubListing
    files: tuple[HubFile, ...]
    is_converted: bool

    @property
    def bytes(self) -> int:
        """The sum of the files' sizes."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A model on disk; `is_new` where something was downloaded."""

    folder: Path
    record: ModelRecord
    is_new: bool


def fetch(
    model: CatalogueModel,
    folder: Path,
    hub: Callable[[], Hub],
    *,
    revision: str = "",
    anew: bool = False,
    python: str = "",
    check: Callable[[Path], object] = lambda _: None,
    say: Say = lambda _: None,
) -> FetchedModel:
    """The model in its folder, as it was recorded or freshly fetched; HubError in one line.

    What is there and has its recorded hashes is used without a word to the hub. `revision` chooses
    a commit and `anew` fetches again. `python` is an interpreter with torch and transformers for
    models without an ONNX file. `check` opens the model, before anything else can use it.
    """
    model, known = _at(model, revision), read_record(folder)
    if known is not None and not anew and revision in ("", known.sources[0].commit):
        check_files(folder, known)
        return FetchedModel(folder, known, is_new=False)
    if known is None and folder.exists():
        raise HubError(
            f"{folder}: expected a free place or a fetched model, found something else, which is "
            "left alone: choose another folder with --dir or RT4CHART_MODELS"
        )
    work = folder.with_name(f".{folder.name}.partial")
    client = hub()
    plans = [_plan(model, client.listing(model.repo, _wanted(model, known, revision)))]
    if plans[0].is_converted and model.base:
        plans.append(_base_plan(client, model.base))
    _check_commit(plans[0].listing, _wanted(model, known, revision))
    _check_known(plans[0], model.sha256)
    _check_unchanged(plans, known if not revision else None)
    if plans[0].is_converted:
        check_interpreter(model, python)
    _check_space(plans, work)
    say(f"{model.repo} at {plans[0].listing.commit}: {_size(sum(one.bytes for one in plans))}")
    sources = [_download(client, plan, model, work, say) for plan in plans]
    _check_sources(sources, known if not revision else None)
    made, versions = _assemble(model, plans, work, python, say)
    record = _record(model, plans, sources, made, versions)
    write_record(made, record)
    check(made)
    _put_in_place(made, folder)
    shutil.rmtree(work, ignore_errors=True)
    return FetchedModel(folder, record, is_new=True)


def _at(model: CatalogueModel, revision: str) -> CatalogueModel:
    """The model at another revision, of which no hash is on record."""
    same = revision in ("", model.revision)
    return model if same else replace(model, revision=revision, sha256={})


def _wanted(model: CatalogueModel, known: ModelRecord | None, revision: str) -> str:
    """The revision to ask for: the one that is chosen, else that of the record, else the pin."""
    if revision:
        return revision
    return known.sources[0].commit if known else model.revision


def _plan(model: CatalogueModel, listing: HubListing) -> FilePlan:
    """An ONNX file with its tokenizer where the hub has them, else what they are made of."""
    files = listing.files
    onnx = next((name for name in ONNX_FILES if name in files), "")
    if onnx and TOKENIZER in files and CONFIG in files:
        weights = [name for name in files if name.startswith(f"{onnx}_data")]
        weights += [name for name in files if name.startswith(f"{onnx}.data")]
        return FilePlan(listing, _pick(listing, [CONFIG, TOKENIZER, onnx, *weights]), False)
    found = next((name for name in _WEIGHTS if name in files), "")
    if not found or CONFIG not in files:
        raise HubError(
            f"{listing.repo} at {listing.commit}: expected {CONFIG} with "
            f"{', '.join((ONNX_FILES[0], *_WEIGHTS))}, found {', '.join(sorted(files)[:8])}"
        )
    names = [name for name in _TOKENIZER_FILES if name in files]
    return FilePlan(listing, _pick(listing, [CONFIG, *names, found]), True)


def _base_plan(hub: Hub, base: str) -> FilePlan:
    """The tokenizer and configuration of the repository that a model builds on."""
    repo, _, commit = base.partition("@")
    listing = hub.listing(repo, commit)
    _check_commit(listing, commit)
    names = [name for name in (CONFIG, *_TOKENIZER_FILES) if name in listing.files]
    return FilePlan(listing, _pick(listing, names), True)


def _pick(listing: HubListing, names: Iterable[str]) -> tuple[HubFile, ...]:
    picked = tuple(listing.files[name] for name in dict.fromkeys(names))
    for file in picked:
        if file.size < 0 or not file.mark:
            raise HubError(
                f"{listing.repo}, {file.path}: expected the hub to tell size and hash, got "
                f"{file.size} and {file.mark!r}: a mirror may leave them out; unset HF_ENDPOINT"
            )
        if Path(file.path).is_absolute() or ".." in Path(file.path).parts:
            raise HubError(f"{listing.repo}: expected names of files, got {file.path!r}")
        if file.path == CONFIG and file.size > MAX_CONFIG_BYTES:
            raise HubError(
                f"{listing.repo}, {file.path}: expected at most {_size(MAX_CONFIG_BYTES)}, got "
                f"{_size(file.size)}: do not use it; check HF_ENDPOINT"
            )
    return picked


def _check_commit(listing: HubListing, wanted: str) -> None:
    is_commit = len(wanted) == _COMMIT_LENGTH
    if len(listing.commit) != _COMMIT_LENGTH or (is_commit and listing.commit != wanted):
        raise HubError(
            f"{listing.repo}: expected the commit {wanted}, the hub answers with "
            f"{listing.commit or 'none'}: do not use it; check HF_ENDPOINT"
        )


def _check_known(plan: FilePlan, known: Mapping[str, str]) -> None:
    """Compare the hub's hashes with those that are on public record."""
    for file in plan.files:
        expected = known.get(file.path, "")
        if expected and file.sha256 != expected:
            raise HubError(
                f"{plan.listing.repo}, {file.path}: expected the SHA-256 {expected}, the hub "
                f"answers with {file.sha256 or 'none'}: do not use it; check HF_ENDPOINT"
            )


def _check_unchanged(plans: Iterable[FilePlan], known: ModelRecord | None) -> None:
    """Refuse, by what the hub tells, other bytes than a commit had at the first fetch."""
    _check_sources(
        [
            ModelSourceRecord(
                plan.listing.repo,
                plan.listing.commit,
                {file.path: file.sha256 for file in plan.files if file.sha256},
            )
            for plan in plans
        ],
        known,
    )


def _check_sources(sources: Iterable[ModelSourceRecord], known: ModelRecord | None) -> None:
    recorded = {
        (source.repo, source.commit, name): found
        for source in (known.sources if known else ())
        for name, found in source.files.items()
    }
    for source in sources:
        for name, found in source.files.items():
            was = recorded.get((source.repo, source.commit, name), found)
            if was != found:
                raise HubError(
                    f"{source.repo}, {name}: expected the SHA-256 {was} of the first fetch, the "
                    f"hub now answers with {found} for the same commit: do not use it; keep what "
                    "you have"
                )


def _check_space(plans: Iterable[FilePlan], work: Path) -> None:
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HubError(
            f"{work.parent}: expected a folder that can be written, got {error.strerror}: choose "
            "another one with --dir or RT4CHART_MODELS"
        ) from error
    there = sum(file.stat().st_size for file in work.rglob("*.part") if file.is_file())
    # A converted model is about as large as its weights.
    needed = sum(plan.bytes * (2 if plan.is_converted else 1) for plan in plans) - there
    free = shutil.disk_usage(work).free
    if needed > free:
        raise HubError(
            f"{work.parent}: expected {_size(needed)} of free space, got {_size(free)}: free some, "
            "or choose another folder with --dir or RT4CHART_MODELS"
        )


def _download(
    hub: Hub, plan: FilePlan, model: CatalogueModel, work: Path, say: Say
) -> ModelSourceRecord:
    """Each file, checked; config.json first, so that a wrong model costs no download."""
    listing, found = plan.listing, {}
    for file in plan.files:
        # Named by its content: what was cut off is never continued with another file's bytes.
        part = work / "parts" / f"{file.mark[:40]}.part"
        if not _is_whole(part, file):
            say(f"  {file.path}: {_size(file.size)}")
            hub.download(listing.repo, listing.commit, file, part)
            _check_bytes(part, file, listing)
        if file.path == CONFIG and listing.repo == model.repo:
            check_architecture(part, model)
        found[file.path] = sha256_of(part)
    return ModelSourceRecord(listing.repo, listing.commit, found)


def _is_whole(part: Path, file: HubFile) -> bool:
    is_there = part.is_file() and part.stat().st_size == file.size
    return is_there and _mark_of(part, file) == file.mark


def _mark_of(part: Path, file: HubFile) -> str:
    return sha256_of(part) if file.sha256 else git_blob_of(part)


def _check_bytes(part: Path, file: HubFile, listing: HubListing) -> None:
    size = part.stat().st_size
    if size == file.size and (found := _mark_of(part, file)) == file.mark:
        return
    kind = "SHA-256" if file.sha256 else "git id"
    got = f"{size} bytes" if size != file.size else f"the {kind} {found}"
    part.unlink()
    raise HubError(
        f"{listing.repo}, {file.path}: expected {file.size} bytes with the {kind} {file.mark}, got "
        f"{got}; the file was deleted: run the command again, and check HF_ENDPOINT and proxies"
    )


def _assemble(
    model: CatalogueModel, plans: list[FilePlan], work: Path, python: str, say: Say
) -> tuple[Path, Mapping[str, str]]:
    """The folder of the model, and what converted it."""
    made = work / "model"
    shutil.rmtree(made, ignore_errors=True)
    first = plans[0]
    if not first.is_converted:
        _link_files(first, work, made)
        return made, {}
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    for number, plan in enumerate(plans):
        _link_files(plan, work, source / "base" if number else source)
    say("converting to ONNX")
    return made, convert(model, source, made, python)


def _link_files(plan: FilePlan, work: Path, folder: Path) -> None:
    """The files under their names, without a second copy."""
    for file in plan.files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        part = work / "parts" / f"{file.mark[:40]}.part"
        try:
            os.link(part, target)
        except OSError:  # a file system without hard links
            shutil.copyfile(part, target)


def _record(
    model: CatalogueModel,
    plans: list[FilePlan],
    sources: list[ModelSourceRecord],
    made: Path,
    versions: Mapping[str, str],
) -> ModelRecord:
    files = sorted(file for file in made.rglob("*") if file.is_file())
    return ModelRecord(
        name=model.name,
        kind=model.kind,
        licence=plans[0].listing.licence or model.licence,
        labels=model.labels,
        template=model.template,
        sources=tuple(sources),
        files={file.relative_to(made).as_posix(): sha256_of(file) for file in files},
        converted=versions,
    )


def _put_in_place(made: Path, folder: Path) -> None:
    """Replace the folder by the complete one; an older one is there until then."""
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        os.replace(folder, old)
    os.replace(made, folder)
    shutil.rmtree(old, ignore_errors=True)


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
