"""The one place that says which reprokit this is."""

VERSION = "0.1.0"
