DEFINITIONS = {
    "pairs": {
        "class_name": "Pairs",
        "description": "Two pieces of code, and whether they do the same.",
        "project_url": "https://example.org/pairs",
        "raw_url": "pairs",
    },
    "pairs_again": {
        "class_name": "Pairs",
        "description": "The same in another order.",
        "project_url": "https://example.org/pairs-again",
        "raw_url": "pairs_again",
    },
}
