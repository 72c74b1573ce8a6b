"""`rt4chart judge`: lists the open models that are known, and brings one from the model hub."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from otel_rt4chart.cli import bench as bench_options
from otel_rt4chart.commands import bench
from otel_rt4chart.commands.doctor import onnx_check
from otel_rt4chart.core.errors import HubError, InputError, SettingsError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from otel_rt4chart.hub.catalogue import MODELS, NEWEST, CatalogueModel, find
from otel_rt4chart.hub.client import Hub
from otel_rt4chart.hub.fetch import FetchedModel, fetch
from otel_rt4chart.settings.application import JudgeSettings

# The labelled answers that come with the package, of another part of it.
_ROWS = ("rt4chart_collector", "demo/data")


def execute(options: argparse.Namespace) -> int:
    """Run the subcommand; the status is 1 if the fetched model fails its check."""
    return _get(options) if options.action == "get" else _list(as_json=options.json)


def _list(*, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps([asdict(model) for model in MODELS], indent=2) + "\n")
        return 0
    for model in MODELS:
        pin = "newest at the first fetch" if model.revision == NEWEST else model.revision[:12]
        sys.stdout.write(
            f"{model.name:26}{model.prefix[:-1]:12}{model.licence:12}{model.size / 1e9:.1f} GB  "
            f"{model.repo} at {pin}\n"
        )
        for figure in model.figures:
            sys.stdout.write(f"{'':26}published: {figure.text} ({figure.source})\n")
    sys.stdout.write(f"{'':26}The figures are the authors'; none was measured here.\n")
    return 0


def _get(options: argparse.Namespace) -> int:
    model = find(options.name)
    if options.env and not options.use:
        raise InputError("--env: expected --use judge or --use second with it")
    if options.use == "second" and model.kind == "spans":
        raise InputError(
            f"--use second: {model.name} reads whole answers and cannot judge another judge's "
            "claims: expected a model of pairs, or --use judge"
        )
    settings = load(JudgeSettings)
    if settings.onnx_labels:
        _say("RT4CHART_ONNX_LABELS is set and counts for this model, too: unset it")
    # Whole: the settings that name it are read by other processes, in other folders.
    folder = Path(options.dir or settings.models).expanduser().absolute() / model.name
    fetched = fetch(
        model,
        folder,
        Hub,
        revision=options.revision,
        anew=options.replace,
        python=options.convert_with,
        check=lambda made: _check(model, made),
        say=_say,
    )
    _report(model, fetched)
    name = f"{model.prefix}{fetched.folder}"
    check = onnx_check(name)
    sys.stdout.write(f"{check.state:8}{check.name:22}{check.detail}\n")
    if check.state != "ok":
        return 1
    if options.rows > 0:
        _measure(name, options.rows)
    _use(options, name)
    return 0


def _check(model: CatalogueModel, made: Path) -> None:
    """Open the complete model before it takes its place; HubError where that fails."""
    found = onnx_check(f"{model.prefix}{made}")
    if found.state != "ok":
        raise HubError(f"{model.name}: the model was fetched and cannot judge: {found.detail}")


def _report(model: CatalogueModel, fetched: FetchedModel) -> None:
    record = fetched.record
    state = "fetched" if fetched.is_new else "already there, with the recorded hashes"
    sys.stdout.write(f"{model.name}: {state}: {fetched.folder}\n")
    for source in record.sources:
        sys.stdout.write(f"  {source.repo} at {source.commit}\n")
    sys.stdout.write(f"  licence: {printable(record.licence)}\n")
    if record.licence != model.licence:
        sys.stdout.write(f"  the licence was {model.licence} when the catalogue was written\n")
    if record.converted:
        made_by = ", ".join(f"{name} {version}" for name, version in record.converted.items())
        sys.stdout.write(f"  converted to ONNX with {printable(made_by)}\n")


def _measure(name: str, rows: int) -> None:
    """A short bench on labelled answers that come with the package, where it is installed whole."""
    package, where = _ROWS
    spec = find_spec(package)
    folders = [Path(one) / where for one in (spec.submodule_search_locations or ())] if spec else []
    folder = next((one for one in folders if one.is_dir()), None)
    if folder is None:
        _say("not measured: the labelled answers come with the extra [collector]")
        return
    parser = argparse.ArgumentParser()
    bench_options.configure(parser)
    arguments = [str(folder), "--judge", name, "--limit", str(rows)]
    sys.stdout.write(
        f"\nThe first {rows} labelled answers of the demo, too few for a figure to quote:\n\n"
    )
    bench.run(parser.parse_args(arguments))
    sys.stdout.write("\n")


def _use(options: argparse.Namespace, name: str) -> None:
    """Print the settings that use the model, or write them into the file."""
    if options.use == "second":
        values = {
            "RT4CHART_JUDGE": "cascade",
            "RT4CHART_CASCADE_FIRST": "local",
            "RT4CHART_CASCADE_SECOND": name,
        }
    else:
        values = {"RT4CHART_JUDGE": name}
    if not options.env:
        sys.stdout.write("".join(f"export {line}\n" for line in _lines(values)))
        return
    write_variables(options.env, values)
    sys.stdout.write(f"{options.env}: {', '.join(values)}\n")


def _lines(values: Mapping[str, str]) -> Iterator[str]:
    for variable, value in values.items():
        yield f"{variable}={shlex.quote(value)}"


def write_variables(file: Path, values: Mapping[str, str]) -> None:
    """Set the variables in a file of NAME=VALUE lines, which keeps its other lines and its mode."""
    try:
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        kept = [line for line in lines if line.removeprefix("export ").split("=")[0] not in values]
        text = "\n".join([*kept, *_lines(values)]) + "\n"
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
        ) as made:
            made.write(text)
        if file.exists():
            os.chmod(made.name, file.stat().st_mode)
        os.replace(made.name, file)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"--env {file}: expected a file of variables that can be written, got {error}"
        ) from error


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
