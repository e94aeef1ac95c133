"""Reading documents: files of several formats as the blocks that the archive stores."""
