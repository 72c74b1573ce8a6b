"""Readers of span attributes: messages, documents and texts in every convention."""
