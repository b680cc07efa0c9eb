"""The parts of `tools/safety_net.py`: cases, names that differ between the two trees, recording and comparison."""
