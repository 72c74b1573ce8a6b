"""The neutral span, its view in neutral terms, and the verdict on an answer."""
