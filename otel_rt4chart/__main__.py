"""`python -m otel_rt4chart` is the `rt4chart` command."""

from __future__ import annotations

import sys

from otel_rt4chart.cli import main

sys.exit(main())
