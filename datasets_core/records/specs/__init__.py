"""Specs that describe how features are parsed, in the form that `tf.io.parse_example` accepts."""
