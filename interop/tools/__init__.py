"""One module for each tool, with its TOOL."""
