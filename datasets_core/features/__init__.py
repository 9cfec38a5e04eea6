"""The types of columns, and the way between Python values and Arrow."""
