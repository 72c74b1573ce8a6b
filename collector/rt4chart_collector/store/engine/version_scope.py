"""The answers of one version: of a release, a prompt, a model, a judge or a span of time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rt4chart_collector.store.engine.scope import QueryScope


class VersionKind(StrEnum):
    """What makes a version: an attribute of its answers, the judge, or a span of time."""

    RELEASE = "release"
    PROMPT_VERSION = "prompt_version"
    MODEL = "model"
    ENVIRONMENT = "environment"
    VERIFIER = "verifier"
    TIME = "time"


# The column of each kind; a span of time is in the scope.
VERSION_COLUMNS = {
    VersionKind.RELEASE: "Release",
    VersionKind.PROMPT_VERSION: "PromptVersion",
    VersionKind.MODEL: "Model",
    VersionKind.ENVIRONMENT: "Environment",
    VersionKind.VERIFIER: "VerifierId",
}


@dataclass(frozen=True, slots=True)
class VersionScope:
    """The answers in a scope that have this version; of the kind `TIME`, all of them."""

    scope: QueryScope
    kind: VersionKind
    version: str

    @property
    def column(self) -> str:
        """The expression that has the `value` where a row in the scope has the version."""
        return VERSION_COLUMNS.get(self.kind, "''")

    @property
    def value(self) -> str:
        """The version; "" of a span of time, whose name is in no row."""
        return "" if self.kind is VersionKind.TIME else self.version

    @property
    def condition(self) -> str:
        """The condition that a row has the version, beside that of the scope."""
        return f"{self.column} = {{version:String}}"

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the scope and of `condition`."""
        return {**self.scope.parameters, "version": self.value}

    def shares_rows_with(self, other: VersionScope) -> bool:
        """True if one statement over the scope can read both, by `column`."""
        return self.column == other.column and self.scope == other.scope
