"""The slots of one text: tokens, names, numbers, dates, negations and scope words."""
