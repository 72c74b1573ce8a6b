"""The routes of operators, asked in process, and the metrics that they show."""

from __future__ import annotations

import asyncio

import httpx
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import ASGIApp

Shown = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def get(app: ASGIApp, path: str, token: str = "", **headers: str) -> httpx.Response:
    """GET with a token."""

    async def send() -> httpx.Response:
        sent = {**headers, **({"authorization": f"Bearer {token}"} if token else {})}
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
            return await client.get(path, headers=sent)

    return asyncio.run(send())


def samples(text: str) -> Shown:
    """The value of each sample, by its name and its labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
