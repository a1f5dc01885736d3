"""Models as packages: wheels that hold one, those that are installed, and their names."""
