"""The message of a command that Ctrl-C or SIGTERM ended before it had a point to give. It imports nothing: Ctrl-C is not held back yet."""

NO_RESULT = "interrupted: there is no result\n"
