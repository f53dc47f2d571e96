"""What is true, found in a few plain lines or by another program."""
