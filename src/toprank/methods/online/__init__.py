"""Steps on rows as they come, or on pairs and points drawn from them."""
