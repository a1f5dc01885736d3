"""What bench/peers.py trains and times: one module for each parser, and the runs they share."""
