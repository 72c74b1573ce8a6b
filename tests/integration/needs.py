"""What a module of these tests needs, as marks that say why it is skipped.

RT4CHART_INTEGRATION is 1 for all of them (`make test-integration`), or `short` for those that
need nothing but Python's packages (`make test-faults`): some do less there.
"""

from __future__ import annotations

import os

import pytest

from tests.integration.kafka_jars import lack

LEVEL = os.environ.get("RT4CHART_INTEGRATION", "")
IS_WHOLE = LEVEL == "1"
REASON = "minutes: make test-integration"
SHORT = pytest.mark.skipif(LEVEL not in ("1", "short"), reason="a minute: make test-faults")
MINUTES = pytest.mark.skipif(not IS_WHOLE, reason=REASON)
BROKER = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not IS_WHOLE, reason="a broker of Maven's jars, and minutes: make test-integration"
    ),
    pytest.mark.skipif(IS_WHOLE and bool(lack()), reason=lack()),
]
