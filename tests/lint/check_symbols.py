#!/usr/bin/env python3
"""usage: check_symbols.py BASE_ARCHIVE ENGINE_ARCHIVE   (TAP; see symbols.py)"""
import sys

import symbols
import tap

base_path, engine_path = sys.argv[1:]
base, engine = symbols.nm(base_path), symbols.nm(engine_path)
report = tap.Tap()
report.case("nm sees the symbols of both libraries",
            [] if any(name == "wheel_arm" for *_, name in base) and engine else ["no symbols found"])
report.case("base calls nothing but memory functions, and stderr only in assert.c", symbols.foreign(base))
# The rules of base are the engine's too, but what base may do in assert.c and buf.c is no licence for the engine.
report.case("the engine calls nothing but memory functions and base", symbols.foreign(engine, base))
report.case("the check notices a clock",
            [] if symbols.foreign(engine + [("flight.c.o", "U", "clock_gettime")], base) else ["it does not"])
report.case("the check notices a print outside assert.c",
            [] if symbols.foreign([("slab.c.o", "U", "__fprintf_chk")])
            and not symbols.foreign([("assert.c.o", "U", "__fprintf_chk")]) else ["it does not"])
report.finish()
