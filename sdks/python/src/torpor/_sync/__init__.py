# Generated from ../_async by tools/generate.py. Not to be edited.
