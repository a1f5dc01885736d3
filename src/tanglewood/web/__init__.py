"""The playground: a small ASGI application, its JSON interface and its page."""
