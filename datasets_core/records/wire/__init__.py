"""Decoding of protobuf messages of `tf.train`, one by one or many at once."""
