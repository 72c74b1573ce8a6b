"""The options of the subcommands of the service, declared without their code."""
