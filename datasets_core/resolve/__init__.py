"""Resolution of a reference to a builder."""
