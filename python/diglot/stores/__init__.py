"""Memories that outlive the process: `diglot.stores.sqlite` keeps them in a SQLite database."""
