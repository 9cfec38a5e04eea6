"""What a user's functions make of rows: map, filter, batch."""
