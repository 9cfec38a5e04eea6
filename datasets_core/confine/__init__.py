"""Scripts of strangers: run in a process that can read its inputs and write nothing but rows."""
