#!/usr/bin/env python3
"""usage: check_tree.py ROOT   (TAP; one case per rule of layers.py, words.py, shape.py and documents.py)"""
import sys

import documents
import layers
import shape
import tap
import words
from tree import Tree

tree = Tree(sys.argv[1])
report = tap.Tap()
for rule in layers.RULES + words.RULES + shape.RULES + documents.RULES:
    notes = shape.function_report(tree) if rule is shape.function_length else []
    report.case(rule.__doc__, rule(tree), notes)
report.finish()
