"""The rules of the code base, held by tests instead of by memory."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "otel_rt4chart": ROOT / "otel_rt4chart",
    "rt4chart_collector": ROOT / "collector/rt4chart_collector",
    "rt4chart_clustering": ROOT / "clustering/rt4chart_clustering",
}
SOURCES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))

# The folders of each package from top to bottom: a folder imports from those below it alone.
LAYERS = {
    "rt4chart_clustering": (
        "rt4chart_clustering",  # the pytest plugin
        "commands",
        "cli",
        "console",
        "tickets",
        "gate",
        "evalset",
        "explain",
        "triage",
        "grouping",
        "description",
        "core",
    ),
    "rt4chart_collector": (
        "rt4chart_collector",
        "demo",
        "commands",
        "cli",
        "report",
        "service",
        "console",
        "console.alerts",
        "console.settings",
        "console.routes",
        "console.labels",
        "console.tries",
        "console.answers",
        "console.finding",
        "console.app",
        "console.view",
        "incident",
        "comparison",
        "labelling",
        "notify",
        "notify.channels",
        "detect.monitor",
        "detect.drift",
        "pipeline",
        "ingest",
        "ingest.kafka",
        "ingest.otlp",
        "store.views",
        "store.lists",
        "store.alerts",
        "store.issues",
        "store.labels",
        "store.rates",
        "store.answers",
        "store.schema",
        "store.engine",
        "core.alerts",
        "core",
    ),
    "otel_rt4chart": (
        "commands",
        "bench",
        "bench.rivals",
        "otel_rt4chart",  # what an application imports, and the entry points
        "inline",
        "marking",
        "emit",
        "hub",
        "judges",
        "settings",
        "redaction",
        "sampling",
        "spans.graph",
        "spans.exchange",
        "spans.reading",
        "spans.conventions",
        "spans.model",
        "verify",
        "verify.trail",
        "verify.criteria",
        "verify.findings",
        "verify.neural",
        "verify.llm",
        "verify.stages",
        "verify.local",
        "verify.link",
        "verify.decompose",
        "verify.language",
        "verify.text",
        "verify.rates",
        "verify.core",
        "core",
    ),
}
# What one package may import of another, the packages in order: nothing imports upward.
SEEN_BY = {
    "otel_rt4chart": (),
    "rt4chart_collector": ("otel_rt4chart",),
    "rt4chart_clustering": (
        "otel_rt4chart",
        "rt4chart_collector.core",
        "rt4chart_collector.store",
        "rt4chart_collector.pipeline.decision",
        "rt4chart_collector.pipeline.additions.earlier_turns",
        "rt4chart_collector.notify",
        "rt4chart_collector.comparison",
        "rt4chart_collector.console",
    ),
}
FOLDER_FILES = 18
# The mechanism of settings, and the declarations of each package.
SETTINGS_FILES = (
    ROOT / "otel_rt4chart/core/settings.py",
    ROOT / "otel_rt4chart/settings/application.py",
    ROOT / "collector/rt4chart_collector/core/settings.py",
    ROOT / "collector/rt4chart_collector/core/environment.py",
    ROOT / "clustering/rt4chart_clustering/core/settings.py",
)
# What of the outside may be imported where; the standard library may be imported anywhere.
OUTSIDE = {
    "otel_rt4chart": ("opentelemetry",),
    "otel_rt4chart.verify": ("sentencex", "regex"),
    "otel_rt4chart.hub.client": ("huggingface_hub",),
    "otel_rt4chart.hub.export": ("torch", "transformers", "safetensors"),
    "otel_rt4chart.verify.llm.endpoint": ("openai",),
    "otel_rt4chart.verify.neural.runtime": ("onnxruntime", "tokenizers", "numpy"),
    "otel_rt4chart.verify.neural.model_folder": ("rt4chart_models",),
    "otel_rt4chart.pytest_plugin": ("pytest",),
    "rt4chart_collector": ("opentelemetry", "google.protobuf", "starlette", "uvicorn", "rich"),
    "rt4chart_collector.ingest.otlp.grpc_server": ("grpc", "opentelemetry"),
    "rt4chart_collector.ingest.otlp.refusal": ("google.protobuf", "google.rpc", "starlette"),
    "rt4chart_collector.ingest.http_protocol": ("httptools", "uvicorn"),
    "rt4chart_collector.ingest.otlp.object_budget": ("google.protobuf", "opentelemetry"),
    "rt4chart_collector.ingest.servers": ("starlette", "uvicorn"),
    "rt4chart_collector.ingest.otlp.decompress": ("backports.zstd", "compression"),
    "rt4chart_collector.core.metrics": ("opentelemetry", "prometheus_client"),
    "rt4chart_collector.ingest.kafka.consumer": ("confluent_kafka",),
    "rt4chart_collector.notify.channels.apprise": ("apprise",),
    "rt4chart_collector.notify.channels.http_client": ("httpx",),
    "rt4chart_collector.console": ("starlette", "jinja2", "markupsafe"),
    "rt4chart_collector.report": ("jinja2", "markupsafe"),
    "rt4chart_collector.store": (),
    "rt4chart_collector.store.engine.connect": ("clickhouse_connect", "urllib3"),
    "rt4chart_collector.store.engine.raw_statements": ("chdb",),
    "rt4chart_clustering": ("numpy", "rich"),
    "rt4chart_clustering.console": ("starlette", "markupsafe", "numpy", "sklearn"),
    "rt4chart_clustering.grouping.engine": ("numpy", "hdbscan"),
    "rt4chart_clustering.description.embedding": ("numpy", "sklearn"),
    "rt4chart_clustering.pytest_plugin": ("pytest",),
}
# `verify/` takes time, randomness and settings as arguments; one file of it sends, five others
# wait, one knows the calendar, one runs models, which neither a fork nor a thread may find half
# made.
EDGE = {
    "otel_rt4chart.verify.llm.endpoint": {"os", "time", "threading"},
    "otel_rt4chart.verify.llm.reply_limit": {"time"},
    "otel_rt4chart.verify.core.json_rows": {"datetime"},
    "otel_rt4chart.verify.llm.workers": {"time", "threading", "asyncio"},
    "otel_rt4chart.verify.core.steps": {"asyncio"},
    "otel_rt4chart.verify.neural.runtime": {"os", "threading"},
    "otel_rt4chart.verify.neural.onnx_spans_judge": {"asyncio"},
}
IMPURE = {"os", "time", "datetime", "random", "socket", "threading", "subprocess", "asyncio"}
FILE_LINES, TEST_LINES, FUNCTION_LINES = 500, 500, 60


def module_of(path: Path) -> str:
    """The dotted name under which a source file is imported."""
    for name, folder in PACKAGES.items():
        if path.is_relative_to(folder):
            parts = (name, *path.relative_to(folder).with_suffix("").parts)
            return ".".join(parts).removesuffix(".__init__")
    raise AssertionError(path)


def rule_for(module: str, rules: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The entry with the longest prefix of the module's name."""
    prefixes = [p for p in rules if module == p or module.startswith(p + ".")]
    return rules[max(prefixes, key=len)]


MODULES = frozenset(map(module_of, SOURCES))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """A file's syntax tree, laid out flat."""
    return tuple(
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef)
    )


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_within(module: str, allowed: tuple[str, ...]) -> bool:
    """True where the module is one of the allowed ones or inside one."""
    return any(module == name or module.startswith(name + ".") for name in allowed)


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file."""
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A function's lines, its decorators left out."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def shown(path: Path) -> str:
    """A file's name in a message: from the repository's root."""
    return str(path.relative_to(ROOT))


def is_allowed(module: str, allowed: tuple[str, ...]) -> bool:
    """True for an allowed name, and for its parents: `from package import name` yields both."""
    return is_within(module, allowed) or any(one.startswith(module + ".") for one in allowed)


def layer_of(module: str) -> tuple[str, int]:
    """A module's package and the place of its folder in it, counted from the top."""
    package = module.partition(".")[0]
    folder = module.removeprefix(package).lstrip(".")
    layers = LAYERS[package]
    while folder and folder not in layers:
        folder = folder.rpartition(".")[0]
    return package, layers.index(folder or package)


def imported_modules(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, also inside functions."""
    for name in imports_of(path):
        if name in MODULES:
            yield name


def test_folders_import_downward() -> None:
    """A folder imports only from those below it in its package's list: there is no cycle."""
    offending = []
    for path in SOURCES:
        package, layer = layer_of(module_of(path))
        for name in imported_modules(path):
            other, below = layer_of(name)
            if other == package and below < layer:
                offending.append(f"{module_of(path)} imports {name}")

    assert offending == []


def test_packages_import_one_way() -> None:
    """A package sees of the others only what its row names."""
    offending = []
    for path in SOURCES:
        package = module_of(path).partition(".")[0]
        for name in imported_modules(path):
            if name.partition(".")[0] != package and not is_allowed(name, SEEN_BY[package]):
                offending.append(f"{module_of(path)} imports {name}")

    assert offending == []


def test_outside_packages_are_imported_where_the_table_says() -> None:
    """A library stands behind the one file or folder that owns it."""
    offending = []
    for path in SOURCES:
        allowed = rule_for(module_of(path), OUTSIDE)
        for name in imports_of(path):
            top = name.partition(".")[0]
            is_ours = top in PACKAGES or top in sys.stdlib_module_names
            if not is_ours and not is_allowed(name, allowed):
                offending.append(f"{module_of(path)} imports {name}")

    assert offending == []


def test_folders_have_few_files() -> None:
    """Above some 18 files a folder hides a room that is missing."""
    files = [path for path in SOURCES + BENCHMARKS if path.name != "__init__.py"]
    counts = Counter(path.parent for path in files)

    assert {shown(one): count for one, count in counts.items() if count > FOLDER_FILES} == {}


def test_a_class_name_stands_once() -> None:
    """One name means one thing in all three packages."""
    homes: dict[str, list[str]] = {}
    for path in SOURCES:
        for name in re.findall(r"^class ([A-Z]\w+)", path.read_text(), re.MULTILINE):
            homes.setdefault(name, []).append(shown(path))

    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_verification_is_pure() -> None:
    """Nothing under `verify/` reads the clock, the environment, the network or a random source."""
    offending = {}
    for path in SOURCES:
        if path.is_relative_to(ROOT / "otel_rt4chart/verify"):
            impure = {name.partition(".")[0] for name in imports_of(path)} & IMPURE
            if impure - EDGE.get(module_of(path), set()):
                offending[module_of(path)] = impure

    assert offending == {}


def test_environment_is_read_in_settings_only() -> None:
    """`os.environ` and `os.getenv` stand in the modules of settings and nowhere else."""
    reads = re.compile(r"\b(?:os\.(?:environ|getenv)|import (?:environ|getenv))\b")
    offending = [
        shown(path)
        for path in SOURCES
        if path not in SETTINGS_FILES and reads.search(path.read_text())
    ]

    assert offending == []


def test_files_and_functions_stay_small() -> None:
    """No file and no function outgrows what a reader takes in at once."""
    offending = []
    for path, limit in [(p, FILE_LINES) for p in SOURCES] + [(p, TEST_LINES) for p in TESTS]:
        lines = len(path.read_text().splitlines())
        if lines > limit:
            offending.append(f"{shown(path)}: {lines} lines, at most {limit}")
        for one in functions_of(path):
            if length_of(one) > FUNCTION_LINES:
                offending.append(f"{shown(path)}: {one.name} has {length_of(one)} lines")

    assert offending == []


def test_typical_file_and_function_are_short() -> None:
    """The median file has at most 120 lines; functions at most 10 (median) and 30 (p90)."""
    files = [len(path.read_text().splitlines()) for path in SOURCES]
    lengths = sorted(length_of(f) for path in SOURCES for f in functions_of(path))

    assert median(files) <= 120
    assert median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.9)] <= 30


def test_each_test_states_its_behaviour() -> None:
    """Every test has a sentence that says what it holds."""
    nameless = [
        f"{shown(path)}: {f.name}"
        for path in TESTS
        if path.name.startswith("test_")
        for f in functions_of(path)
        if f.name.startswith("test_") and ast.get_docstring(f) is None
    ]

    assert nameless == []


def test_broad_handlers_are_few_and_named() -> None:
    """`except Exception` stands only at a process boundary, with its reason on the line."""
    unexplained = []
    for path in SOURCES:
        for line in path.read_text().splitlines():
            if "except Exception" in line or "except BaseException" in line:
                reason = line.partition("#")[2].replace("noqa: BLE001", "").strip(" :-–—")
                if len(reason) <= 10:
                    unexplained.append(f"{shown(path)}: {line.strip()}")

    assert unexplained == []


def test_base_install_stays_light() -> None:
    """What an application installs is OpenTelemetry and the sentence segmenter, nothing more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {spec.split(">")[0].strip() for spec in project["dependencies"]}

    assert names == {
        "opentelemetry-api",
        "opentelemetry-sdk",
        "opentelemetry-instrumentation",
        "regex",
        "sentencex",
    }


def test_importing_the_application_side_loads_nothing_heavy() -> None:
    """`import otel_rt4chart` brings in no numpy, no model, no ClickHouse client, no web server."""
    code = (
        "import sys, otel_rt4chart, otel_rt4chart.verify; otel_rt4chart.RT4ChartInstrumentor;"
        "print([m for m in ('numpy', 'clickhouse_connect', 'chdb', 'sklearn', 'starlette', 'rich',"
        " 'onnxruntime', 'tokenizers', 'rt4chart_collector', 'rt4chart_clustering')"
        " if m in sys.modules])"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "[]"


@pytest.mark.e2e
def test_wheel_holds_the_three_packages_and_their_data(tmp_path: Path) -> None:
    """The wheel has our packages only, migrations, weights, demo data, pages and types."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)

    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()

    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if ".dist-info" not in top} == set(PACKAGES)
    assert any(name.endswith("licenses/NOTICE") for name in names)
    for needed in (
        "otel_rt4chart/py.typed",
        "otel_rt4chart/verify/local/weights.json",
        "rt4chart_collector/store/schema/migrations/0001_initial.sql",
        "rt4chart_collector/console/answers/templates/answer.html",
        "rt4chart_collector/demo/data/response.jsonl",
        "rt4chart_collector/demo/data/helpdesk/answers.jsonl",
        "rt4chart_collector/demo/data/verdicts.jsonl.gz",
        "rt4chart_collector/demo/rag_app.py",
        "rt4chart_clustering/py.typed",
    ):
        assert any(name.startswith(needed) for name in names), needed
    pages = {
        path.relative_to(folder).as_posix()
        for folder in (ROOT / "collector", ROOT / "clustering")
        for path in folder.rglob("*")
        if path.suffix in {".html", ".css", ".js", ".svg"}
    }
    assert pages
    assert pages <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]
