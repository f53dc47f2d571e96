"""Random problems of nasty shapes, and certificates held against exact values: `make fuzz`."""
