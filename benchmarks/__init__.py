"""Measurements that are too long or too noisy for the tests."""
