"""The page on which people try an answer of their own."""
