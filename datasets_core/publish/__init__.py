"""Datasets pushed to the Hub: Parquet shards, a card, one commit."""
