"""The benchmarks: `python -m benches --help`."""
