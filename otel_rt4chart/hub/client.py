"""The one file that talks to a model hub: what a revision holds, and the bytes of its files."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, cast

from otel_rt4chart.core.errors import HubError, SettingsError
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.llm.reply_limit import ReplyLimitError, bounded_client

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SHOWN = 100  # characters; the longest hash has 64
_WAIT_S, _LISTING_S = 30.0, 120.0  # for the next bytes, and until a listing is whole


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a revision: its size in bytes, and its SHA-256 or, of a small file, git's id."""

    path: str
    size: int
    sha256: str
    blob: str

    @property
    def mark(self) -> str:
        """What identifies the content."""
        return self.sha256 or self.blob


@dataclass(frozen=True, slots=True)
class HubListing:
    """What the hub says of a revision; `licence` is "" where its card states none."""

    repo: str
    commit: str
    licence: str
    files: Mapping[str, HubFile]


class Hub:
    """A model hub that speaks Hugging Face's API; HF_ENDPOINT and HF_TOKEN count.

    Calls block. Every failure is a HubError of one line.
    """

    def __init__(self, endpoint: str = "") -> None:
        """`endpoint` is the hub's address; without it HF_ENDPOINT, else the client's own."""
        self._package = _package()
        # It warns of each attempt; what fails in the end is told in one line.
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        _bound_replies(self._package)
        self._endpoint = (endpoint or str(self._package.constants.ENDPOINT)).rstrip("/")

    def listing(self, repo: str, revision: str) -> HubListing:
        """The files of a revision with their sizes and hashes."""
        with self._as_hub_errors(f"{repo} at {revision}"):
            found = self._package.HfApi(endpoint=self._endpoint).model_info(
                repo, revision=revision, files_metadata=True
            )
        card = found.card_data.to_dict() if found.card_data else {}
        files = {
            one.rfilename: HubFile(
                one.rfilename,
                one.size if isinstance(one.size, int) else -1,
                _line(one.lfs.sha256 if one.lfs else ""),
                _line(one.blob_id),
            )
            for one in found.siblings or ()
            if one.rfilename.isprintable()
        }
        return HubListing(repo, _line(found.sha), _line(card.get("license")), files)

    def download(self, repo: str, commit: str, file: HubFile, part: Path) -> None:
        """Append to `part` what it lacks of the file; the bytes are not compared with a hash."""
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        url = self._package.hf_hub_url(repo, file.path, revision=commit, endpoint=self._endpoint)
        with self._as_hub_errors(f"{repo}, {file.path}"):
            part.parent.mkdir(parents=True, exist_ok=True)
            there = part.stat().st_size if part.is_file() else 0
            if there > file.size:
                part.unlink()
                there = 0
            with part.open("ab") as opened:
                http_get(
                    url,
                    cast(Any, _BoundedFile(opened, file, self._endpoint)),
                    resume_size=there,
                    expected_size=file.size,
                    headers=build_hf_headers(),
                    displayed_filename=file.path,
                )

    @contextmanager
    def _as_hub_errors(self, what: str) -> Iterator[None]:
        errors = self._package.errors
        try:
            yield
        except HubError:
            raise
        except errors.GatedRepoError as error:
            raise HubError(
                f"{what}: the hub gives it only to those who accepted its terms: accept them at "
                f"{self._endpoint}, and set HF_TOKEN"
            ) from error
        except errors.RevisionNotFoundError as error:
            raise HubError(
                f"{what}: the hub has no such revision: choose another one with --revision"
            ) from error
        except errors.RepositoryNotFoundError as error:
            raise HubError(
                f"{what}: expected a repository at {self._endpoint}, got none that can be read; "
                "check HF_ENDPOINT, and set HF_TOKEN if it is private"
            ) from error
        except errors.OfflineModeIsEnabled as error:
            raise HubError(f"{what}: HF_HUB_OFFLINE forbids to ask the hub: unset it") from error
        except errors.HfHubHTTPError as error:
            status = error.response.status_code
            raise HubError(
                f"{what}: the hub at {self._endpoint} answered {status}: run the command again "
                "later; it continues where it stopped"
            ) from error
        except OSError as error:
            raise HubError(f"{what}: {_told(error)}") from error
        except ReplyLimitError as error:
            raise HubError(
                f"{what}: expected the listing of a revision from {self._endpoint}: {error}; "
                "check HF_ENDPOINT"
            ) from error
        except Exception as error:  # the client's errors of transport share no public class
            raise HubError(
                f"{what}: the hub at {self._endpoint} cannot be reached, or broke off "
                f"({type(error).__name__}): check the network and HF_ENDPOINT, and run the command "
                "again; it continues where it stopped"
            ) from error


def _bound_replies(package: ModuleType) -> None:
    """Let the package's client take a listing of a bounded size; files are bounded as written."""
    made = package.get_session()
    bounded = bounded_client(type(made), _LISTING_S)
    hooks = made.event_hooks  # with these the package refuses to call where it is offline
    package.set_client_factory(
        lambda: bounded(event_hooks=hooks, follow_redirects=True, timeout=_WAIT_S)
    )


class _BoundedFile:
    """A file that takes no more bytes than the hub told."""

    def __init__(self, opened: BinaryIO, file: HubFile, endpoint: str) -> None:
        self._opened = opened
        self._file = file
        self._endpoint = endpoint

    def __getattr__(self, name: str) -> object:
        return getattr(self._opened, name)

    def write(self, data: bytes) -> int:
        if self._opened.tell() + len(data) > self._file.size:
            raise HubError(
                f"{self._file.path}: expected {self._file.size} bytes, as {self._endpoint} told, "
                "got more: do not use it; check HF_ENDPOINT"
            )
        return self._opened.write(data)


def _line(value: object) -> str:
    """What a hub says, as it can be shown."""
    return one_line(str(value or ""), _SHOWN)


def _told(error: OSError) -> str:
    if error.errno in _FULL:
        return (
            f"the disk is full ({error.strerror}): free some space, or choose another folder with "
            "--dir or RT4CHART_MODELS; the command continues where it stopped"
        )
    said = error.strerror or str(error).splitlines()[0]
    return f"{said}; run the command again, it continues where it stopped"


def _package() -> ModuleType:
    """The client, imported late: with its transport it takes a third of a second."""
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"the model hub needs the package {error.name}: pip install 'otel-rt4chart[hub]'"
        ) from error
    return huggingface_hub
