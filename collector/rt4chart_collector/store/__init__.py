"""The store: connection, migrations, and all SQL that reads or writes it."""
