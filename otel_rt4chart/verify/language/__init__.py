"""What one text says: tokens, names, numbers, dates, negations and scope, as comparable slots."""
