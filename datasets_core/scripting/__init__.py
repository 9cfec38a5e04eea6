"""Dataset scripts: read, imported under module names of their own, with compatibility modules for old libraries."""
