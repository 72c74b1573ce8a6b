"""When a route's hallucination rate rises: evidence, baselines and rules, from the rollup alone.

Pure: no store, no clock, no settings. The same ticks give the same findings.
"""
