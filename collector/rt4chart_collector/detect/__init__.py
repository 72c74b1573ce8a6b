"""What is wrong: drift of rates, health of the pipeline, growth of issues."""
