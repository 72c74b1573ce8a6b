"""docker-compose.yml: what is pinned, bounded, locked down and given in .env."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest

from tests.deploy.files import DEPLOY, ROOT, read_yaml

COMPOSE = ROOT / "docker-compose.yml"
SERVICES: dict[str, dict[str, Any]] = read_yaml(COMPOSE)["services"]
SECRETS: dict[str, dict[str, str]] = read_yaml(COMPOSE)["secrets"]
# Compose refuses a read-only root where a secret is not a file: it copies such secrets into it.
GIVEN_SECRETS = {
    name
    for name, one in SERVICES.items()
    if any("file" not in SECRETS[secret["source"]] for secret in one.get("secrets", []))
}
ONCE = {"kafka-topics", "otelcol-queue", "migrate"}
# The Collector's image has no shell to ask with; Prometheus asks. Grouping serves nothing: a failed
# run is tried again.
UNASKED = {"otelcol", "grouping"}
EXAMPLE = (ROOT / ".env.example").read_text()


def named(profile: str) -> set[str]:
    """The services of a layout."""
    return {name for name, one in SERVICES.items() if profile in one["profiles"]}


def texts(value: object) -> Iterator[str]:
    """Every text in a structure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def test_layouts_are_whole() -> None:
    """Each service belongs to one of the two, and waits for none of the other."""
    assert named("small") == {"rt4chart", "prometheus", "alertmanager"}
    assert named("full") == set(SERVICES) - {"rt4chart"}
    for name, one in SERVICES.items():
        for other in one.get("depends_on", {}):
            assert set(one["profiles"]) <= set(SERVICES[other]["profiles"]), name


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_service_is_pinned_bounded_and_locked_down(name: str) -> None:
    """A tag with a number, limits, no capability, no new privilege, and a health check."""
    one = SERVICES[name]

    assert re.search(r":v?\d+\.\d+", one["image"]), one["image"]
    assert set(one["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert one["read_only"] is (name not in GIVEN_SECRETS | {"kafka"})
    assert ("test" in one.get("healthcheck", {})) is (name not in ONCE | UNASKED | {"rt4chart"})


def test_no_secret_has_a_default() -> None:
    """Each is asked for by name where it is missing, and .env.example has it empty."""
    secrets = set(re.findall(r"\$\{(\w*(?:PASSWORD|TOKEN)\w*)([^}]*)\}", COMPOSE.read_text()))

    assert len(secrets) > 0
    for name, behind in secrets:
        assert behind == ":?set it in .env", name
        assert f"\n{name}=\n" in EXAMPLE


@pytest.mark.parametrize("name", sorted(GIVEN_SECRETS))
def test_secrets_can_be_read_without_root(name: str) -> None:
    """By the image's user, who is not the owner of the copy."""
    assert {one["mode"] for one in SERVICES[name]["secrets"]} == {0o444}


def test_every_variable_is_in_the_example() -> None:
    """Those with a default as a comment."""
    asked = set(re.findall(r"\$\{(\w+)", COMPOSE.read_text()))
    asked |= {one["environment"] for one in SECRETS.values()}

    assert {name for name in asked if not re.search(rf"^#?{name}=", EXAMPLE, re.M)} == set()


def test_files_that_are_mounted_are_there() -> None:
    """Docker would make an empty folder in the place of one that is missing."""
    mounted = [
        text.split(":")[0]
        for one in SERVICES.values()
        for text in texts(one.get("volumes", []))
        if text.startswith("./")
    ]

    assert len(mounted) > 0
    assert [one for one in mounted if not (ROOT / one).exists()] == []


def test_image_holds_what_is_copied() -> None:
    """Every file that the Dockerfile copies is let through and is there."""
    text = (DEPLOY / "Dockerfile").read_text()
    copied = {
        one
        for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.M)
        for one in line.split()[:-1]
    }
    let_through = set(
        re.findall(r"^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.M)
    )

    assert copied == let_through
    assert all((ROOT / one).exists() for one in copied)
    assert re.search(r"^USER 10001:10001$", text, re.M)


def test_topic_takes_what_the_gateway_sends() -> None:
    """The broker's and the topics' limits are above the exporter's, and the topic is the same."""
    kafka = read_yaml(DEPLOY / "otelcol/gateway.yaml")["exporters"]["kafka"]
    limit = int(SERVICES["kafka"]["environment"]["KAFKA_MESSAGE_MAX_BYTES"])
    (script,) = SERVICES["kafka-topics"]["command"]

    assert kafka["producer"]["max_message_bytes"] < limit
    assert script.count(f"max.message.bytes={limit}") == 2
    assert kafka["traces"]["topic"] == "${env:KAFKA_TOPIC:-otlp_spans}"
    assert "/otlp_spans?" in SERVICES["worker"]["environment"]["RT4CHART_SOURCE"]
    assert "--topic otlp_spans.dlq" in script


@pytest.mark.parametrize("name", ["server.xml", "users.xml"])
def test_clickhouse_files_are_xml_without_a_password(name: str) -> None:
    """Passwords come from the environment, and a large log table has an end or is off."""
    root = ET.parse(DEPLOY / "clickhouse" / name).getroot()  # noqa: S314 - our own file

    for one in root.iter("password"):
        assert "from_env" in one.attrib
        assert not one.text
    logs = [one for one in root if one.tag.endswith("_log")]
    assert all("remove" in one.attrib or one.find("ttl") is not None for one in logs)
    assert bool(logs) is (name == "server.xml")
