"""When a route's hallucination rate rises: evidence, baselines and rules; pure."""
