"""Files that commands and calls name: programs that are read, outputs that are written whole or not at all."""
