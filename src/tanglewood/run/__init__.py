"""Work on more than one core."""
