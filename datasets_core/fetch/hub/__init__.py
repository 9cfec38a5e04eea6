"""The Hugging Face Hub: repositories, listings, downloads and uploads."""
