"""Solutions: certified answers, their values on new data, and their files."""
