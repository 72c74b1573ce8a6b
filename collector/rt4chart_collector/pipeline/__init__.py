"""From spans to stored verdicts: assembly, queue, workers, retries and recovery."""
