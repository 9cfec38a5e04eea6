"""Protobuf messages of `tf.train`, decoded one by one or many at once."""
