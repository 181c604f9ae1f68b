"""Files: reading programs, and writing outputs whole or not at all."""
