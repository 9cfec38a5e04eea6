"""Folders that TensorFlow Datasets prepared, read without TensorFlow."""
