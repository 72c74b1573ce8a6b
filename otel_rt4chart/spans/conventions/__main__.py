"""`python -m otel_rt4chart.spans.conventions` prints the tables of docs/conventions.md."""

from __future__ import annotations

import sys

from otel_rt4chart.spans.conventions.page import tables

sys.stdout.write(tables())
