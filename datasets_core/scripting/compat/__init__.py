"""Names of other libraries that dataset scripts import."""
