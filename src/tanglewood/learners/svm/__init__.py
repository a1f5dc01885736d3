"""The svm learner: the classifiers of the papers, LIBSVM and LIBLINEAR."""
