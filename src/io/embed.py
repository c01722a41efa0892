"""Turns a JSON file into C: embed.py INPUT OUTPUT FUNCTION HEADER. Whitespace between tokens is dropped."""
import json
import sys

source, target, function, header = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    text = json.dumps(json.load(file), ensure_ascii=False, separators=(",", ":")).encode()
rows = [", ".join(str(byte) for byte in text[i:i + 20]) for i in range(0, len(text), 20)]
with open(target, "w", encoding="utf-8") as file:
    file.write(f'#include "{header}"\n\nstatic const unsigned char bytes[] = {{\n')
    file.write("".join(f"    {row},\n" for row in rows))
    file.write("};\n\n")
    file.write(f"struct slice {function}(void)\n{{\n")
    file.write("    return (struct slice){.data = (const char *)bytes, .len = sizeof bytes};\n}\n")
