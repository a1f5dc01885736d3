"""The arcs learner: a linear model of arcs, trained with its decoder."""
