"""Other columns: chosen, renamed, of other types, added."""
