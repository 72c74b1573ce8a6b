"""The Helm chart, read from its files and from the manifests that `helm` made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from otel_rt4chart.core.settings import settings_of
from otel_rt4chart.settings.application import SECTIONS as APPLICATION
from rt4chart_clustering.core.settings import TicketSettings
from tests.deploy.chart.rendering import (
    CHART,
    LAYOUTS,
    PLACED,
    PROCESSES,
    RENDERED,
    SCHEMA,
    SECTIONS,
    declared,
    digest,
    manifests,
    processes_text,
    reads,
    schema_text,
)
from tests.deploy.files import DEPLOY, ROOT, read_yaml

AGAIN = "python -m tests.deploy.chart.rendering"
BY_LAYOUT = {layout: manifests(layout) for layout in LAYOUTS}
FULL = [layout for layout in LAYOUTS if layout != "small"]
WORKLOADS = ("Deployment", "StatefulSet", "Job", "CronJob")
# The services of docker-compose.yml, with the command that each runs.
COMPOSED = {
    "rt4chart": "up",
    "migrate": "migrate",
    "worker": "work",
    "console": "console",
    "grouping": "cluster",
}
COMPOSE = read_yaml(ROOT / "docker-compose.yml")["services"]


def of_kind(layout: str, *kinds: str) -> dict[str, dict[str, Any]]:
    """The manifests of these kinds, by their names."""
    return {one["metadata"]["name"]: one for one in BY_LAYOUT[layout] if one["kind"] in kinds}


def pod_of(workload: dict[str, Any]) -> dict[str, Any]:
    """The template of a workload's pods: metadata and spec."""
    spec = workload["spec"]
    found: dict[str, Any] = spec.get("jobTemplate", {"spec": spec})["spec"]["template"]
    return found


def workloads() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Layout, name and pod of each workload."""
    for layout in LAYOUTS:
        for name, one in of_kind(layout, *WORKLOADS).items():
            yield layout, name, pod_of(one)


def process_of(pod: dict[str, Any]) -> str:
    """The command that a pod of ours runs; empty for the Collector."""
    (container,) = pod["spec"]["containers"]
    return container["args"][0] if container["name"] == "rt4chart" else ""


def variables(container: dict[str, Any]) -> set[str]:
    """The names of our variables that a container has; a token in a file is that token."""
    names = {one["name"].removesuffix("_FILE") for one in container["env"]}
    return {one for one in names if one.startswith("RT4CHART_")}


@pytest.mark.parametrize(("path", "expected"), [(PROCESSES, processes_text), (SCHEMA, schema_text)])
def test_settings_are_those_that_are_declared(path: Any, expected: Any) -> None:  # noqa: ANN401 - parameters
    """The chart has one list of settings, the one in the code."""
    assert path.read_text() == expected(), AGAIN


@pytest.mark.parametrize("layout", LAYOUTS)
def test_manifests_are_those_of_this_chart(layout: str) -> None:
    """The kept manifests were rendered after the last change of a template."""
    assert (RENDERED / f"{layout}.yaml").read_text().split("\n")[0] == f"# {digest()}", AGAIN


def test_chart_compose_and_reference_name_the_same_settings() -> None:
    """What the reference documents is in the chart, or has another place there."""
    text = (ROOT / "docs/reference/settings.md").read_text()
    documented = set(re.findall(r"^\| `([A-Z_0-9]+)` \|", text, re.MULTILINE))
    in_chart = {name for process in SECTIONS for names in reads(process) for name in names}
    elsewhere = {one.variable for one in settings_of(*APPLICATION, TicketSettings)}

    assert in_chart | PLACED <= documented
    assert documented - elsewhere <= in_chart | PLACED


@pytest.mark.parametrize(("service", "process"), COMPOSED.items())
def test_compose_and_chart_set_the_same(service: str, process: str) -> None:
    """What .env may change in compose is a setting of the process; the rest is set in both."""
    given: dict[str, str] = COMPOSE[service]["environment"]
    ours = {name: str(value) for name, value in given.items() if name.startswith("RT4CHART_")}
    chosen = {name for name, value in ours.items() if re.fullmatch(r"\$\{\w+:-.*\}", value)}
    fixed = set(ours) - chosen
    if process == "up":
        flags = re.findall(r'"--([a-z-]+)"', (DEPLOY / "Dockerfile").read_text().split("CMD")[-1])
        fixed |= {f"RT4CHART_{flag.replace('-', '_').upper()}" for flag in flags}
    layout = "small" if process == "up" else "full"
    found = {process_of(pod): pod for one, _, pod in workloads() if one == layout}
    (container,) = found[process]["spec"]["containers"]

    assert chosen <= set(reads(process).settings)
    assert fixed == variables(container)


def test_templates_use_values_that_are_declared() -> None:
    """Each value of a template is in values.yaml."""
    values = read_yaml(CHART / "values.yaml")
    for path in (CHART / "templates").iterdir():
        for name in re.findall(r"\.Values\.([A-Za-z.]+)", path.read_text()):
            found: Any = values
            for part in name.split("."):
                assert part in found, f"{path.name}: {name}"
                found = found[part]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_variables_are_settings_that_the_process_reads(layout: str) -> None:
    """A typing error would be no error, and a secret goes to those alone that need it."""
    for one, name, pod in workloads():
        if one == layout and (process := process_of(pod)):
            (container,) = pod["spec"]["containers"]
            kafka = {each for each in variables(container) if each.startswith("RT4CHART_KAFKA_")}
            assert variables(container) - kafka <= set(declared(process)), name
            assert not kafka or process == "work"


def test_containers_are_locked_down_and_bounded() -> None:
    """An image by digest, no root, no capability, no writable root, no token of the cluster."""
    for layout, name, pod in workloads():
        (container,), spec = pod["spec"]["containers"], pod["spec"]

        assert re.search(r"@sha256:[0-9a-f]{64}$", container["image"]), (layout, name)
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] == 10001
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        # A Service named rt4chart-kafka would make variables that look like settings.
        assert spec["enableServiceLinks"] is False
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_no_secret_is_in_a_manifest() -> None:
    """Tokens, addresses with passwords and keys come from the Secret that is named."""
    for _, name, pod in workloads():
        (container,) = pod["spec"]["containers"]
        for one in container["env"]:
            is_secret = re.search(r"TOKEN$|PASSWORD|USER|ENDPOINT|_KEY$|_DSN$|SLACK", one["name"])
            assert ("valueFrom" in one) is bool(is_secret), (name, one["name"])
    for layout in LAYOUTS:
        assert of_kind(layout, "Secret") == {}


def test_whoever_stays_is_asked_for_its_health() -> None:
    """By three probes, at a port that the container declares; the Collector starts at once."""
    for layout, name, pod in workloads():
        (container,) = pod["spec"]["containers"]
        probes = {key: one for key, one in container.items() if key.endswith("Probe")}
        ports = {one["name"] for one in container.get("ports", [])}
        if name in of_kind(layout, "Job", "CronJob"):
            assert (probes, ports) == ({}, set()), name
        else:
            expected = {"livenessProbe", "readinessProbe", "startupProbe"}
            assert set(probes) == expected - ({"startupProbe"} if "gateway" in name else set())
            assert {one["httpGet"]["port"] for one in probes.values()} <= ports, name


def test_pod_has_time_to_stop() -> None:
    """More than the service takes: RT4CHART_STOP_S, and 15 seconds."""
    found = {
        (layout, name): pod["spec"]["terminationGracePeriodSeconds"]
        for layout, name, pod in workloads()
        if process_of(pod) in ("up", "work")
    }

    assert found == {
        ("small", "rt4chart-up"): 50,
        ("full", "rt4chart-worker"): 50,
        ("everything", "rt4chart-worker"): 60,
    }


def test_mounts_have_volumes() -> None:
    """Each once, and each volume is mounted."""
    for layout in LAYOUTS:
        for name, one in of_kind(layout, *WORKLOADS).items():
            pod = pod_of(one)["spec"]
            claims = [each["metadata"] for each in one["spec"].get("volumeClaimTemplates", [])]
            volumes = [each["name"] for each in (*pod["volumes"], *claims)]
            mounts = [each["name"] for each in pod["containers"][0]["volumeMounts"]]
            assert sorted(volumes) == sorted(mounts), (layout, name)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_selectors_find_pods_of_one_workload(layout: str) -> None:
    """Of services, budgets, policies and monitors; their ports are the containers'."""
    pods = [pod for one, _, pod in workloads() if one == layout]
    for one in BY_LAYOUT[layout]:
        spec = one.get("spec", {})
        selector = spec.get("podSelector") or spec.get("selector")
        if selector is None or one["kind"] in WORKLOADS:
            continue
        wanted = selector.get("matchLabels", selector).items()
        (pod,) = [each for each in pods if wanted <= each["metadata"]["labels"].items()]
        ports = {each["name"] for each in pod["spec"]["containers"][0].get("ports", [])}
        if one["kind"] == "Service":
            assert {each["targetPort"] for each in spec["ports"]} <= ports
        if one["kind"] == "PodMonitor":
            assert {each["port"] for each in spec["podMetricsEndpoints"]} <= ports


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_pod_has_a_policy_that_opens_its_ports_alone(layout: str) -> None:
    """The ports that are open are those of the container, but for that of the probes."""
    policies = of_kind(layout, "NetworkPolicy")
    for name, one in of_kind(layout, *WORKLOADS).items():
        spec = policies.pop(name)["spec"]
        container = pod_of(one)["spec"]["containers"][0]
        opened = {port["port"] for rule in spec.get("ingress", []) for port in rule["ports"]}

        assert spec["policyTypes"] == ["Ingress", "Egress"]
        assert opened == {
            port["containerPort"] for port in container.get("ports", []) if port["name"] != "health"
        }
    assert policies == {}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_budget_keeps_all_pods_but_one(layout: str) -> None:
    """Where there are several; one for a single pod could only stop a node from being drained."""
    several = {"full": {"worker"}, "everything": {"worker", "console", "gateway"}}
    found = of_kind(layout, "PodDisruptionBudget")

    assert set(found) == {f"rt4chart-{name}" for name in several.get(layout, ())}
    assert all(one["spec"]["maxUnavailable"] == 1 for one in found.values())


@pytest.mark.parametrize("layout", FULL)
def test_one_job_groups_and_one_migrates(layout: str) -> None:
    """Grouping at its times, never twice at once; the tables before anything else."""
    (grouping,) = of_kind(layout, "CronJob").values()
    (migration,) = of_kind(layout, "Job").values()

    assert process_of(pod_of(grouping)) == "cluster"
    assert grouping["spec"]["concurrencyPolicy"] == "Forbid"
    assert process_of(pod_of(migration)) == "migrate"
    assert migration["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"


def test_process_of_the_small_layout_does_all_by_itself() -> None:
    """One pod with a disk of its own, which no second process opens."""
    kinds = [one["kind"] for one in BY_LAYOUT["small"]]
    (process,) = of_kind("small", "StatefulSet").values()
    (claim,) = process["spec"]["volumeClaimTemplates"]

    assert sorted(kinds) == ["NetworkPolicy", "Service", "StatefulSet"]
    assert process["spec"]["replicas"] == 1
    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]


def test_workers_follow_the_lag_of_their_group() -> None:
    """KEDA asks about the brokers, the topic and the group that the workers read."""
    (scaled,) = of_kind("everything", "ScaledObject").values()
    worker = of_kind("everything", "Deployment")[scaled["spec"]["scaleTargetRef"]["name"]]
    (trigger,) = scaled["spec"]["triggers"]
    (container,) = pod_of(worker)["spec"]["containers"]
    source = next(one["value"] for one in container["env"] if one["name"] == "RT4CHART_SOURCE")
    asked = trigger["metadata"]

    assert source == (
        f"kafka://{asked['bootstrapServers']}/{asked['topic']}?group={asked['consumerGroup']}"
    )
    assert "replicas" not in worker["spec"]
    assert trigger["authenticationRef"]["name"] in of_kind("everything", "TriggerAuthentication")


@pytest.mark.parametrize("layout", FULL)
def test_gateway_runs_the_file_that_compose_runs(layout: str) -> None:
    """The file of collector/deploy/otelcol."""
    config = of_kind(layout, "ConfigMap")["rt4chart-gateway"]["data"]

    assert yaml.safe_load(config["gateway.yaml"]) == read_yaml(DEPLOY / "otelcol/gateway.yaml")


def test_values_are_added_to_the_gateways_file() -> None:
    """How it signs in to Kafka, with words from the Secret, and what the values change."""
    kafka = of_kind("everything", "ConfigMap")["rt4chart-gateway"]["data"]["more.yaml"]

    assert yaml.safe_load(kafka)["exporters"]["kafka"] == {
        "auth": {
            "sasl": {
                "mechanism": "SCRAM-SHA-512",
                "username": "${env:KAFKA_USERNAME}",
                "password": "${env:KAFKA_PASSWORD}",
            }
        },
        "tls": {"insecure": False},
        "producer": {"compression": "lz4"},
    }


def test_gateway_is_given_every_variable_that_has_no_default() -> None:
    """The file names them; the Collector would start with an empty text."""
    text = (DEPLOY / "otelcol/gateway.yaml").read_text()
    needed = set(re.findall(r"\$\{env:(\w+)\}", text))
    for layout in FULL:
        pod = pod_of(of_kind(layout, "StatefulSet")["rt4chart-gateway"])
        assert needed <= {one["name"] for one in pod["spec"]["containers"][0]["env"]}


def test_jobs_of_the_monitors_have_the_names_that_the_rules_ask_for() -> None:
    """Those of prometheus.yml, whose rules are the chart's too."""
    kept = read_yaml(DEPLOY / "prometheus/prometheus.yml")["scrape_configs"]
    found = {
        endpoint["relabelings"][0]["replacement"]
        for one in of_kind("everything", "PodMonitor").values()
        for endpoint in one["spec"]["podMetricsEndpoints"]
    }
    (rules,) = of_kind("everything", "PrometheusRule").values()
    files = [read_yaml(DEPLOY / f"prometheus/{name}.yml")["groups"] for name in ("rules", "routes")]

    assert found == {one["job_name"] for one in kept} - {"rt4chart"}
    assert rules["spec"]["groups"] == [group for groups in files for group in groups]
