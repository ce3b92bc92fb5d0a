"""PTX text as plain data and back: `parse` reads a module, `render` prints one, `model` is what stands between."""
