"""The one place that speaks SQL: connection, migrations, writes and reads."""
