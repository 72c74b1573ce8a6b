"""The schema: migrations, clusters, retention, and how a database differs from it."""
