"""The rules of the code base, held by tests instead of by memory."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
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

# What a module under the prefix may import of ours; the longest prefix that fits counts.
OURS = {
    "otel_rt4chart": ("otel_rt4chart",),
    "otel_rt4chart.verify": ("otel_rt4chart.verify", "otel_rt4chart.core.errors"),
    "rt4chart_collector": ("otel_rt4chart", "rt4chart_collector"),
    "rt4chart_clustering": (
        "otel_rt4chart",
        "rt4chart_collector.pipeline.decision",
        "rt4chart_collector.notify",
        "rt4chart_collector.core.settings",
        "rt4chart_collector.store",
        "rt4chart_clustering",
    ),
    "rt4chart_clustering.console": (
        "otel_rt4chart",
        "rt4chart_collector.core.settings",
        "rt4chart_collector.pipeline.decision",
        "rt4chart_collector.console",
        "rt4chart_collector.store",
        "rt4chart_clustering",
    ),
}
# What of the outside may be imported where; the standard library may be imported anywhere.
OUTSIDE = {
    "otel_rt4chart": ("opentelemetry",),
    "otel_rt4chart.verify": ("sentencex", "regex"),
    "otel_rt4chart.verify.llm.endpoint": ("openai",),
    "otel_rt4chart.verify.neural.runtime": ("onnxruntime", "tokenizers", "numpy"),
    "otel_rt4chart.verify.neural.model_folder": ("rt4chart_models",),
    "otel_rt4chart.pytest_plugin": ("pytest",),
    "rt4chart_collector": ("opentelemetry", "google.protobuf", "starlette", "uvicorn", "rich"),
    "rt4chart_collector.ingest.otlp.grpc_server": ("grpc", "opentelemetry"),
    "rt4chart_collector.ingest.otlp.refusal": ("google.protobuf", "google.rpc"),
    "rt4chart_collector.ingest.otlp.http_protocol": ("h11", "uvicorn"),
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
    "rt4chart_clustering.grouping.engine": ("numpy", "sklearn"),
    "rt4chart_clustering.description.embedding": ("numpy", "sklearn"),
    "rt4chart_clustering.pytest_plugin": ("pytest",),
}
# `verify/` takes time, randomness and settings as arguments; one file of it sends, three others
# wait, one runs models, which neither a fork nor a thread may find half made.
EDGE = {
    "otel_rt4chart.verify.llm.endpoint": {"os", "time", "threading"},
    "otel_rt4chart.verify.llm.workers": {"time", "threading", "asyncio"},
    "otel_rt4chart.verify.core.drive": {"asyncio"},
    "otel_rt4chart.verify.neural.runtime": {"os", "threading"},
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


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
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
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A function's lines, its decorators left out."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_imports_go_one_way(path: Path) -> None:
    """A module imports of ours, and of the outside, only what the table allows it."""
    module = module_of(path)
    ours, outside = rule_for(module, OURS), rule_for(module, OUTSIDE)

    for name in imports_of(path):
        top = name.partition(".")[0]
        if top in PACKAGES:
            # `from package import name` yields both; the first may be a parent of an allowed one.
            assert is_within(name, ours) or any(o.startswith(name + ".") for o in ours), name
        elif top not in sys.stdlib_module_names:
            assert is_within(name, outside) or any(o.startswith(name + ".") for o in outside), name


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if p.is_relative_to(ROOT / "otel_rt4chart/verify")],
    ids=module_of,
)
def test_verification_is_pure(path: Path) -> None:
    """Nothing under `verify/` reads the clock, the environment, the network or a random source."""
    allowed = EDGE.get(module_of(path), set())

    assert not {name.partition(".")[0] for name in imports_of(path)} & IMPURE - allowed


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_environment_is_read_in_settings_only(path: Path) -> None:
    """`os.environ` and `os.getenv` stand in the modules of settings and nowhere else."""
    reads = re.findall(
        r"\b(?:os\.(?:environ|getenv)|import (?:environ|getenv))\b", path.read_text()
    )

    assert path.name in ("settings.py", "settings_core.py") or reads == []


@pytest.mark.parametrize(
    ("path", "limit"),
    [(p, FILE_LINES) for p in SOURCES] + [(p, TEST_LINES) for p in TESTS],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_files_and_functions_stay_small(path: Path, limit: int) -> None:
    """No file and no function outgrows what a reader takes in at once."""
    assert len(path.read_text().splitlines()) <= limit
    assert [f.name for f in functions_of(path) if length_of(f) > FUNCTION_LINES] == []


def test_typical_file_and_function_are_short() -> None:
    """The median file has at most 120 lines; functions at most 10 (median) and 30 (p90)."""
    files = [len(path.read_text().splitlines()) for path in SOURCES]
    lengths = sorted(length_of(f) for path in SOURCES for f in functions_of(path))

    assert median(files) <= 120
    assert median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.9)] <= 30


@pytest.mark.parametrize("path", [p for p in TESTS if p.name.startswith("test_")], ids=str)
def test_each_test_states_its_behaviour(path: Path) -> None:
    """Every test has a sentence that says what it holds."""
    nameless = [
        f.name
        for f in functions_of(path)
        if f.name.startswith("test_") and ast.get_docstring(f) is None
    ]

    assert nameless == []


def test_broad_handlers_are_few_and_named() -> None:
    """`except Exception` stands only at a process boundary, with its reason on the line."""
    for path in SOURCES:
        for line in path.read_text().splitlines():
            if "except Exception" in line or "except BaseException" in line:
                reason = line.partition("#")[2].replace("noqa: BLE001", "").strip(" :-–—")
                assert len(reason) > 10, f"{path}: which boundary? {line.strip()}"


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
    """The wheel has our import names alone, with migrations, weights, demo data and the types."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)

    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()

    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if ".dist-info" not in top} == set(PACKAGES)
    assert any(name.endswith("licenses/NOTICE") for name in names)
    for needed in (
        "otel_rt4chart/py.typed",
        "otel_rt4chart/verify/local/weights.json",
        "rt4chart_collector/store/migrations/",
        "rt4chart_collector/demo/data/response.jsonl",
        "rt4chart_collector/demo/rag_app.py",
        "rt4chart_clustering/py.typed",
    ):
        assert any(name.startswith(needed) for name in names), needed
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]
