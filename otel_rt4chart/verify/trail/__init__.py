"""VeriTrail: where a claim comes from, over all the steps that made the answer."""
