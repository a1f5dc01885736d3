"""Training parsers and pipelines: configuration, the training loop, folds, stacking and checkpoints."""
