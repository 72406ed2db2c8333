"""Pictures of results: as Mermaid for every reader, as SVG or PNG with the extra `plot`."""
