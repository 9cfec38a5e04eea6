"""Formulas of the row order of a stream: permutations, mixtures, shuffles, file interleaving."""
