"""One module per family of files; each yields facts. The only code that knows file formats."""
