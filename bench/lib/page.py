"""The report as one HTML file that needs nothing else: plots, the table, where it was measured."""
import html

import figures
import svg

GROUPS = (("throughput", "Throughput"), ("latency", "Latency percentiles"), ("memory", "Memory"), ("cpu", "CPU against load"),
          ("cost", "Cost per solve"))

STYLE = """
:root { color-scheme: light dark; --bg: #fbfbfa; --card: #fff; --ink: #1d2126; --soft: #5d6670; --rule: #e3e5e8; --rest: #9aa4af;
  --good: #18794e; --near: #8a5a00; --bad: #b42318;
  --c0: #0b62d6; --c1: #d1651a; --c2: #2b8a4b; --c3: #9b3fb5; --c4: #b8860b; --c5: #c2334d; --c6: #1795a5; --c7: #6b7280; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171a; --card: #1c2024; --ink: #e6e9ec; --soft: #9aa5b1; --rule: #30363d;
  --rest: #6a7480; --good: #4cc38a; --near: #f1b24a; --bad: #ff8070;
  --c0: #6aa8ff; --c1: #ff9d5c; --c2: #63c384; --c3: #d08be6; --c4: #e0b84a; --c5: #ff7d92; --c6: #4fd0df; --c7: #a0a8b3; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--bg); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .75rem; }
h3 { font-size: .92rem; font-weight: 600; margin: 0 0 .75rem; }
p { margin: .25rem 0; max-width: 70ch; } .soft { color: var(--soft); }
.tally { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.tally li { background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; padding: .35rem .8rem; }
.tally b { font-size: 1.2rem; margin-right: .35rem; }
.grid-of-plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
figure { margin: 0; padding: 1rem; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; }
svg { width: 100%; height: auto; display: block; } svg text { font-size: 12.5px; fill: var(--ink); }
svg .tick { font-size: 11.5px; fill: var(--soft); } svg .value { font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--rule); } svg .track { fill: var(--rule); opacity: .5; } svg .line { fill: none; stroke-width: 2; }
svg .fill-rest { fill: var(--rest); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .6rem 0 0; padding: 0; list-style: none; font-size: .82rem; }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: .5rem; background: var(--card); margin-bottom: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--rule);
  font-variant-numeric: tabular-nums; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 11rem; }
td.under { padding-left: 1.8rem; color: var(--soft); }
.met { color: var(--good); } .near { color: var(--near); } .MISSED { color: var(--bad); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; font-size: .88rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
""" + "".join(f"svg .fill-c{i} {{ fill: var(--c{i}); }} svg .line-c{i} {{ stroke: var(--c{i}); }} "
              f".legend .swatch-c{i} {{ background: var(--c{i}); }}\n" for i in range(svg.COLOURS))


def escape(words):
    return html.escape(str(words))


def tally(report):
    rows = [row for bench in report["benches"] for row in bench["rows"]]
    counts = {word: sum(row["verdict"] == word for row in rows) for word in ("met", "near", "MISSED")}
    words = {"met": "targets met", "near": "missed by less than 5 %", "MISSED": "missed"}
    return '<ul class="tally">' + "".join(
        f'<li><b class="{word}">{count}</b>{words[word]}</li>' for word, count in counts.items()) + "</ul>"


def plots(report):
    parts = []
    for group, title in GROUPS:
        mine = [plot for bench in report["benches"] for plot in bench["plots"] if plot["group"] == group]
        if mine:
            parts.append(f"<h2>{title}</h2><div class='grid-of-plots'>" + "".join(
                f"<figure><h3>{escape(plot['title'])}</h3>{svg.draw(plot)}</figure>" for plot in mine) + "</div>")
    return "".join(parts)


def table_row(row):
    cells = figures.cells(row)
    under = ' class="under"' if cells[0].startswith(" ") else ""
    return (f"<tr><td{under}>{escape(cells[0].strip())}</td>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells[1:6])
            + f'<td class="{cells[6]}">{escape(cells[6].lower())}</td></tr>')


def tables(report):
    head = "".join(f"<th>{escape(word)}</th>" for word in figures.HEAD)
    parts = ["<h2>All figures</h2>"]
    for bench in report["benches"]:
        about = f"{bench['seconds']:.0f} s" + (f", {bench['others']:.0%} of both processors lost to other programs"
                                               if bench.get("others") is not None else "")
        parts.append(f"<h3>{escape(bench['bench'])} <span class='soft'>{escape(about)}</span></h3>")
        parts += [f"<p class='soft'>{escape(note)}</p>" for note in bench["notes"]]
        if bench["rows"]:
            parts.append(f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>"
                         + "".join(table_row(row) for row in bench["rows"]) + "</tbody></table></div>")
        if bench.get("text"):
            parts.append(f"<div class='scroll'><pre style='padding:0 .8rem'>{escape(bench['text'])}</pre></div>")
    return "".join(parts)


def pairs(mapping):
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape('not there' if value is None else value)}</dd>"
                            for name, value in mapping.items()) + "</dl>"


def page(report):
    machine = report["machine"]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>solvegate: benchmarks</title><style>{STYLE}</style></head><body>
<h1>solvegate: benchmarks</h1>
<p class="soft">{escape(report["when"])}, commit {escape(report["commit"])}, {escape(machine["processor"])}, {machine["cores"]} cores,
{escape(machine["system"])}; {report["seconds"] / 60:.1f} minutes.</p>
<p>Every figure stands beside a peer or a limit of the same run. A ratio is the median of its rounds, the middle half of the
rounds is beside it, and differences under 5 % mean nothing. Absolute figures are this machine's, on this day.</p>
{tally(report)}
{plots(report)}
{tables(report)}
<h2>Where it was measured</h2>
{pairs(machine)}
<h3 style="margin-top:1rem">Versions</h3>
{pairs(report["versions"] | {"solvegate, sha256": report["binary_sha256"]})}
</body></html>
"""
