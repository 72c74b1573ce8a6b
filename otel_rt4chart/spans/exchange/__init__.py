"""A trace as exchanges: question, passages and answer, with the links between its spans."""
