"""Findings: what an answer's labels do not show. One file per finding; `find` calls them all."""
