"""Labelling of drawn claims: by people, by a trusted judge, and from files of other tools."""
