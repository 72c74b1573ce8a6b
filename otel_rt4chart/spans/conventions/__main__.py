"""Print the tables of docs/reference/conventions.md."""

from __future__ import annotations

import sys

from otel_rt4chart.spans.conventions.page import tables

sys.stdout.write(tables())
