"""What a module of these tests needs, as marks that say why it is skipped.

RT4CHART_INTEGRATION is 1 for all of them (`make test-integration`), or `short` for those that
take five minutes together (`make test-integration-short`): some do less there.
"""

from __future__ import annotations

import os

import pytest

from tests.integration.kafka_jars import lack

LEVEL = os.environ.get("RT4CHART_INTEGRATION", "")
IS_WHOLE = LEVEL == "1"
IS_ASKED = LEVEL in ("1", "short")
REASON = "minutes: make test-integration"
SHORT = pytest.mark.skipif(not IS_ASKED, reason="minutes: make test-integration-short")
MINUTES = pytest.mark.skipif(not IS_WHOLE, reason=REASON)
_JARS = pytest.mark.skipif(IS_ASKED and bool(lack()), reason=lack())
SHORT_BROKER = [pytest.mark.e2e, SHORT, _JARS]
BROKER = [pytest.mark.e2e, MINUTES, _JARS]
