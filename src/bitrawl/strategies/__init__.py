"""What to visit next: `adaptive/`, the default, and `papers/`, the strategies of the papers that it is compared with."""
