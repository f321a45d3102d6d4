"""The oracle: any block pool, in any language, live or from a log, judged by what it promised."""
