"""The command line: one small file a verb. Verbs import what they need when they run, so that every start is quick."""
