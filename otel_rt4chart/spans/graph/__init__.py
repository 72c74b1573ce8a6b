"""From the spans of a trace to the graph of the texts that its answer was made from."""
