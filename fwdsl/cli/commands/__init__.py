"""One module a command, each with `run(argv, output) -> exit code`."""
