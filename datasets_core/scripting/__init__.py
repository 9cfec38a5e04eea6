"""Dataset scripts: read, imported under names of their own, and given the libraries that they were written for."""
