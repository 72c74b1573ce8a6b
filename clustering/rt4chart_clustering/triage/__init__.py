"""What people make of the issues: state, severity, and the words for them."""
