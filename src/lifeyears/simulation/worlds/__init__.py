"""Worlds: who is listed, what arrives, and what follows from a match, drawn as scenarios for the engine."""
