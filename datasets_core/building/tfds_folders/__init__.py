"""Folders prepared by TensorFlow Datasets, read without TensorFlow."""
