"""Sandbox for untrusted dataset scripts, enforced by the kernel."""
