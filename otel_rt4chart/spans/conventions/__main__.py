"""Print the tables of docs/reference/conventions.md."""

from __future__ import annotations

import sys

from otel_rt4chart.spans.conventions.markdown import render_tables

sys.stdout.write(render_tables())
