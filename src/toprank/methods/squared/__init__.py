"""The squared loss over pairs, which sees of them their moments only."""
