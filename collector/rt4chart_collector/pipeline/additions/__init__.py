"""What a verdict gets after the judge: support by earlier turns, trails, custom criteria."""
