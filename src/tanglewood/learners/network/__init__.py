"""The network learner: a small LSTM and a hidden layer over the configuration."""
