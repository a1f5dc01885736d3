"""The arcs learner: a linear graph-based model, trained with its decoder."""
