"""The world `judgments`: a court's WordPress site with lists of judgments, and a second host that serves their
files.
"""
