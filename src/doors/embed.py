"""Turns a document into C: embed.py INPUT OUTPUT FUNCTION HEADER.

JSON loses the whitespace between its tokens. HTML takes in the style sheets and scripts that it names, so that the page
is one file, and gets a second function, FUNCTION_policy: the sources of a Content-Security-Policy that allow exactly these.
"""
import base64
import hashlib
import json
import os
import re
import sys

STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
SCRIPT = re.compile(r'<script src="([^"]+)"></script>')


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def source_of(text):
    """How a policy names an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def take_in(page, pattern, tag, folder):
    """The page with the files in place of their names, and the sources that allow them."""
    sources = []

    def replace(match):
        text = "\n" + read(os.path.join(folder, match.group(1)))
        if f"</{tag}" in text.lower():
            sys.exit(f"{match.group(1)} would end its own <{tag}>")
        sources.append(source_of(text))
        return f"<{tag}>{text}</{tag}>"

    return pattern.sub(replace, page), " ".join(sources)


def join_page(path):
    page, styles = take_in(read(path), STYLE, "style", os.path.dirname(path))
    page, scripts = take_in(page, SCRIPT, "script", os.path.dirname(path))
    return page, f"script-src {scripts}; style-src {styles}"


def c_function(name, text):
    data = text.encode()
    rows = [", ".join(str(byte) for byte in data[i:i + 20]) for i in range(0, len(data), 20)]
    return (f"static const unsigned char {name}_bytes[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n\n"
            f"struct slice {name}(void)\n{{\n"
            f"    return (struct slice){{.data = (const char *){name}_bytes, .len = sizeof {name}_bytes}};\n}}\n")


def main():
    source, target, function, header = sys.argv[1:]
    if source.endswith(".json"):
        texts = {function: json.dumps(json.loads(read(source)), ensure_ascii=False, separators=(",", ":"))}
    else:
        page, policy = join_page(source)
        texts = {function: page, f"{function}_policy": policy}
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join([f'#include "{header}"\n', *(c_function(*item) for item in texts.items())]))


main()
