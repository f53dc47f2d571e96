"""The pushes to the top: positives above the highest negatives."""
