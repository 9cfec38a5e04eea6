"""Dataset scripts that are not trusted, confined by the kernel."""
