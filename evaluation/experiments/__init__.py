"""Live experiments: trials from the log, switchback analysis, outcomes of whole sessions."""
