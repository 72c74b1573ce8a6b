"""The jars of a Kafka broker, from Maven Central: pinned and hashed in `kafka.lock`, fetched once.

They come from MAVEN_REPOSITORY, the address of Maven Central or of a mirror of it; without that
variable, from where `mvn` is set up to fetch. There is no tarball of a release there, only its
parts. `python -m tests.integration.kafka_jars` resolves the lock anew, which needs the variable:
the runtime closure of `ROOTS`, by the nearest definition.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path.home() / ".cache/rt4chart-tests/kafka"
LOCK = Path(__file__).with_name("kafka.lock")
NAMESPACE = {"m": "http://maven.apache.org/POM/4.0.0"}
DEEPEST = 10
MISSING = (
    "a Kafka broker's jars are fetched once (44 MB): install mvn, or set MAVEN_REPOSITORY to the "
    "address of Maven Central or of a mirror of it"
)
TIMEOUT_S, MAVEN_S = 60, 300
# No dependencies of dependencies: the lock has all of them.
PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>of-a-test</groupId><artifactId>jars</artifactId><version>1</version>
<dependencies>{}</dependencies>
</project>
"""
DEPENDENCY = """<dependency><groupId>{0.group}</groupId><artifactId>{0.name}</artifactId>
<version>{0.version}</version>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
</dependency>"""


class Jar(NamedTuple):
    """An artifact's coordinates."""

    group: str
    name: str
    version: str

    @property
    def file(self) -> str:
        """Its file's name."""
        return f"{self.name}-{self.version}.jar"

    def url(self, suffix: str = "jar") -> str:
        """Where a Maven repository keeps it."""
        folder = f"{self.group.replace('.', '/')}/{self.name}/{self.version}"
        return f"{_repository()}/{folder}/{self.name}-{self.version}.{suffix}"


def _repository() -> str:
    address = os.environ.get("MAVEN_REPOSITORY", "").rstrip("/")
    assert address, MISSING
    return address


ROOTS = (
    Jar("org.apache.kafka", "kafka_2.13", "4.1.1"),
    Jar("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
)


def jars() -> list[Path]:
    """Every jar of the lock, from the cache or from Maven Central; the hash must be the lock's."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    locked = _locked()
    missing = [jar for jar, _ in locked if not (FOLDER / jar.file).exists()]
    if missing and not os.environ.get("MAVEN_REPOSITORY"):
        _fetch_by_maven(missing)
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(_kept, locked))


def lack() -> str:
    """Why there is no broker here: no Java, or jars that cannot be fetched; else empty."""
    if shutil.which("java") is None:
        return "a Kafka broker needs Java 17 or later"
    is_kept = all((FOLDER / jar.file).exists() for jar, _ in _locked())
    can_fetch = os.environ.get("MAVEN_REPOSITORY") or shutil.which("mvn")
    return "" if is_kept or can_fetch else MISSING


def _locked() -> list[tuple[Jar, str]]:
    lines = [line.split() for line in LOCK.read_text().splitlines()]
    return [(Jar(*coordinates.split(":")), digest) for coordinates, digest in lines]


def _fetch_by_maven(missing: Sequence[Jar]) -> None:
    """Fill the cache; whoever needs a jar compares its hash."""
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as folder:
        dependencies = "".join(map(DEPENDENCY.format, missing))
        (Path(folder) / "pom.xml").write_text(PROJECT.format(dependencies))
        copy = ["dependency:copy-dependencies", "-DoutputDirectory=jars"]
        subprocess.run(["mvn", "-q", "-B", *copy], cwd=folder, check=True, timeout=MAVEN_S)
        for file in (Path(folder) / "jars").iterdir():
            file.replace(FOLDER / file.name)


def _kept(locked: tuple[Jar, str]) -> Path:
    jar, digest = locked
    file = FOLDER / jar.file
    if not (file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == digest):
        body = _read(jar.url())
        found = hashlib.sha256(body).hexdigest()
        assert found == digest, f"{jar.file}: expected SHA-256 {digest}, got {found}"
        draft = file.with_suffix(".part")
        draft.write_bytes(body)
        draft.replace(file)
    return file


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - https, our own
        body: bytes = answer.read()
    return body


Properties = dict[str, str]
Managed = dict[tuple[str, str], str]


@cache
def _pom(jar: Jar) -> ET.Element:
    return ET.fromstring(_read(jar.url("pom")))  # noqa: S314 - Maven Central's


def _text(node: ET.Element, name: str, known: Properties) -> str:
    value = (node.findtext(f"m:{name}", "", NAMESPACE) or "").strip()
    for _ in range(DEEPEST):
        value = re.sub(r"\$\{([^}]+)\}", lambda found: known.get(found[1], found[0]), value)
    return value


def _surroundings(jar: Jar) -> tuple[Properties, Managed]:
    """A POM's properties and managed versions, its parents' and imported ones included."""
    pom, known, managed = _pom(jar), Properties(), Managed()
    if (parent := pom.find("m:parent", NAMESPACE)) is not None:
        above = Jar(*(_text(parent, part, {}) for part in ("groupId", "artifactId", "version")))
        known, managed = _surroundings(above)
        known["project.parent.version"] = above.version
    for one in pom.iterfind("m:properties/*", NAMESPACE):
        known[one.tag.partition("}")[2]] = (one.text or "").strip()
    known |= {"project.version": jar.version, "project.groupId": jar.group}
    path = "m:dependencyManagement/m:dependencies/m:dependency"
    for one in pom.iterfind(path, NAMESPACE):
        found = Jar(*(_text(one, part, known) for part in ("groupId", "artifactId", "version")))
        if _text(one, "scope", known) == "import":
            managed = {**_surroundings(found)[1], **managed}
        else:
            managed[found[:2]] = found.version
    return known, managed


def _needed(jar: Jar) -> Iterator[Jar]:
    known, managed = _surroundings(jar)
    for one in _pom(jar).iterfind("m:dependencies/m:dependency", NAMESPACE):
        scope, optional = _text(one, "scope", known), _text(one, "optional", known)
        if scope in ("", "compile", "runtime") and optional != "true":
            group, name = _text(one, "groupId", known), _text(one, "artifactId", known)
            version = _text(one, "version", known) or managed[group, name]
            yield Jar(group, name, version)


def closure(roots: Iterable[Jar]) -> list[Jar]:
    """What the roots need at run time; of two versions the one that is nearer to a root."""
    found: dict[tuple[str, str], Jar] = {}
    waiting = list(roots)
    while waiting:
        jar = waiting.pop(0)
        if jar[:2] not in found:
            found[jar[:2]] = jar
            waiting.extend(_needed(jar))
    return sorted(found.values())


def _line(jar: Jar) -> str:
    return f"{':'.join(jar)} {hashlib.sha256(_read(jar.url())).hexdigest()}\n"


if __name__ == "__main__":
    with ThreadPoolExecutor(4) as pool:
        LOCK.write_text("".join(pool.map(_line, closure(ROOTS))))
