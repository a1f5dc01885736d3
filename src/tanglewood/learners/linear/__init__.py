"""The linear learner: a perceptron over hashed feature templates."""
