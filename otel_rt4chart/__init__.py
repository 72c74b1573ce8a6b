"""What share of a RAG application's claims its passages do not support, from its own traces."""
