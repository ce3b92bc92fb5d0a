"""What lets a project with old findings adopt the check: suppressions in comments, a baseline, and their fingerprints.

Nothing here changes a verdict. A finding is kept out of sight, with the place and the reason on record.
"""
