"""The span record, the view on its content, and the verdict on an answer."""
