"""Rows that answer a question: the nearest vectors, texts, SQL."""
