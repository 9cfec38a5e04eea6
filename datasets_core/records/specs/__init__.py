"""Parsing specifications as `tf.io.parse_example` takes them."""
