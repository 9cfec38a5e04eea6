from collections import OrderedDict

COLOURS = OrderedDict([("r", "red"), ("g", "green"), ("b", "blue")])
