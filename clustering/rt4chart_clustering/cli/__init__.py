"""The options of the subcommands over failures and issues, declared without their code."""
