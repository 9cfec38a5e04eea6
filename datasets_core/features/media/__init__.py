"""Images, audio, video, documents: column types whose values are files, stored as bytes or paths."""
