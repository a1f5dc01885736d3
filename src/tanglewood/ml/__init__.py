"""What parsers and taggers share: vocabularies, word features, weights, the encoder, its kernels and optimizer."""
