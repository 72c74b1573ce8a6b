"""librdkafka's properties: from a file, from variables, and those that are not to be set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from otel_rt4chart.errors import SettingsError

PREFIX = "RT4CHART_KAFKA_"
CONFIG = f"{PREFIX}CONFIG"
# Kubernetes sets these in every pod for a service named rt4chart-kafka.
SERVICE = re.compile(r"_(SERVICE_(HOST|PORT.*)|PORT(_\d+_.*)?)$")
# The guarantees rest on these, and the URL says the rest.
FIXED = {
    "bootstrap.servers": "it is in RT4CHART_SOURCE",
    "metadata.broker.list": "it is in RT4CHART_SOURCE",
    "group.id": "it is in RT4CHART_SOURCE",
    "enable.auto.commit": "an offset is committed when its answers are decided",
    "enable.auto.offset.store": "an offset is committed when its answers are decided",
    "partition.assignment.strategy": "it is cooperative-sticky",
    "group.protocol": "it is classic",
}


def kafka_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """The properties of the file that RT4CHART_KAFKA_CONFIG names, then those of the variables.

    RT4CHART_KAFKA_SASL_USERNAME is `sasl.username`, and so on. Raises SettingsError for a file
    that cannot be read, a line that is none, and a property that is not to be set; values are
    never shown, for they may be secrets.
    """
    found = _from_file(Path(environ[CONFIG])) if environ.get(CONFIG) else {}
    for name, value in environ.items():
        if name.startswith(PREFIX) and name != CONFIG and value and not SERVICE.search(name):
            found[name.removeprefix(PREFIX).lower().replace("_", ".")] = value
    for name, reason in FIXED.items():
        if name in found:
            raise SettingsError(
                f"{name}, in {CONFIG} or a variable {PREFIX}*: expected not to be set, for "
                f"{reason}; take it out"
            )
    return found


def _from_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SettingsError(
            f"{CONFIG}: expected a file of librdkafka's properties, one name=value a line; "
            f"cannot read {str(path)!r}: {reason}"
        ) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "!")):
            continue
        name, equals, value = stripped.partition("=")
        if not (equals and name.strip()):
            raise SettingsError(
                f"{CONFIG}: expected name=value in line {number} of {str(path)!r}, got a line "
                "without a name or an equals sign (not shown)"
            )
        found[name.strip()] = value.strip()
    return found
