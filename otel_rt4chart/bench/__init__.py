"""How well a judge's verdicts agree with people's labels."""
