"""What several programs get of one device, and what they cost each other."""
