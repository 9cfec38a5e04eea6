"""Images, audio, video, documents: column types of files, stored as bytes or paths."""
