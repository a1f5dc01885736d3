"""The compiled middle of arcs: the best tree of a class by a table of arc scores, and sums over such trees."""
