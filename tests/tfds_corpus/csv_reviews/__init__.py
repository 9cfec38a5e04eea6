"""A dataset of reviews."""

from .csv_reviews_dataset_builder import Builder
