"""Parts of the suite ``jvm``."""
