"""Every query with windows, joins or text, and its flags, for tests that run all of them."""

RUNS = [("ysb", "--keys=500"), ("ysb", "--profile=yahoo"), ("ysb_star",), ("cm", "--keys=200"), ("cm", "--profile=cm1"),
        ("nb7", "--keys=500"), ("nb8", "--keys=500"), ("nb8", "--keys=500", "--join=full", "--windows=sliding"),
        ("nb11", "--keys=500"), ("swa", "--windows=sliding", "--keys=50", "--group-by=ad"), ("swa", "--disorder=2s"),
        ("ro", "--keys=500"), ("top_words", "--keys=200"), ("collisions",),
        ("wordcount", "--keys=500", "--form=associative"), ("wordcount", "--keys=500", "--form=plain"),
        ("wordcount", "--keys=500", "--form=windowed"), ("wordcount", "--keys=500", "--form=count-window"),
        *(("nexmark", f"--query=q{number}", "--event-rate=100") for number in range(23))]
