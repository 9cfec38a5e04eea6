"""Metadata: versions, references, splits, row ranges, infos, cards, data files."""
