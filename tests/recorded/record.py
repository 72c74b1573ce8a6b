"""Records the applications again: `python tests/recorded/record.py NAME|all [--sdk 1.44]`.

Each application gets a virtual environment with its pinned packages and this checkout, by `uv`.
Only PyPI must be reachable.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPANS = Path(__file__).parent / "spans"
PAGE = ROOT / "docs/instrument/application.md"
sys.path.insert(0, str(ROOT))

from tests.recorded.expected import table  # noqa: E402 - needs the path above
from tests.recorded.header import NAMES, header  # noqa: E402

# For each SDK the matching instrumentation API.
SDKS = {
    "1.44": ("opentelemetry-sdk==1.44.*", "opentelemetry-instrumentation==0.65b0"),
    "1.45": ("opentelemetry-sdk==1.45.*", "opentelemetry-instrumentation==0.66b2"),
}
NEWEST = "1.45"


def record(name: str, sdk: str, folder: Path) -> None:
    """Create the environment, run the application, and store its spans in files."""
    environment = folder / f"{name}-{sdk}"
    python = environment / "bin/python"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "-p", sys.executable, str(environment)], check=True)
    wanted = [*header(name).pins, *SDKS[sdk], "opentelemetry-exporter-otlp-proto-common"]
    subprocess.run([*uv, "pip", "install", "-q", "-p", str(python), *wanted, str(ROOT)], check=True)
    made = environment / "spans"
    made.mkdir()
    run = [str(python), str(Path(__file__).parent / "run.py"), name, str(made)]
    # In its own folder, because some packages write files to the working directory.
    subprocess.run(run, check=True, cwd=environment)
    suffix = "" if sdk == NEWEST else f"-sdk{sdk}"
    for path in sorted(made.glob("*.json")):
        target = SPANS / f"{path.stem}{suffix}.json"
        target.write_text(path.read_text())
        print(f"{target.name}: {target.stat().st_size} bytes")  # noqa: T201


def write_table() -> None:
    """Write the table of recorded applications into the page."""
    rows = re.compile(r"^\| package \| version \|.*\n(?:\|.*\n)+", re.MULTILINE)
    PAGE.write_text(rows.sub(lambda _: table() + "\n", PAGE.read_text()))


def main() -> None:
    """Record the applications named by the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*NAMES, "all"])
    parser.add_argument("--sdk", choices=SDKS, default=NEWEST)
    parser.add_argument("--folder", type=Path, help="where the environments are kept")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for name in NAMES if told.name == "all" else [told.name]:
            record(name, told.sdk, told.folder or Path(temporary))
    write_table()


if __name__ == "__main__":
    main()
