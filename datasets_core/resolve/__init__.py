"""From a reference to a builder."""
