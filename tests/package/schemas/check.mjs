// Checks objects of Kubernetes, given as JSON on standard input, against the schemas of their kinds, and against the types:
// schemas let members pass that they do not know, types do not.
import fs from "node:fs";
import ts from "typescript";

const objects = JSON.parse(fs.readFileSync(0, "utf8"));

function moduleOf({ apiVersion, kind }) {
  const from = apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  return `${from}/${apiVersion}/${kind}`;
}

async function schemaMistakes(object) {
  const Kind = (await import(moduleOf(object)))[object.kind];
  try {
    new Kind(object).validate();
    return [];
  } catch (error) {
    return [`${object.kind} ${object.metadata.name}: ${error.message}`];
  }
}

function typeMistakes() {
  const source = new URL("manifests.ts", import.meta.url).pathname;
  const text = objects.map((object, index) =>
    `import { I${object.kind} as Kind${index} } from "${moduleOf(object)}";\n` +
    `export const object${index}: Kind${index} = ${JSON.stringify(object, null, 1)};\n`).join("");
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: [],
    module: ts.ModuleKind.ES2022, moduleResolution: ts.ModuleResolutionKind.Bundler };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === source || fileExists(name);
  host.readFile = (name) => (name === source ? text : readFile(name));
  host.getSourceFile = (name, ...rest) =>
    name === source ? ts.createSourceFile(name, text, ts.ScriptTarget.Latest) : getSourceFile(name, ...rest);
  return ts.getPreEmitDiagnostics(ts.createProgram([source], options, host)).map(({ file, start, messageText }) => {
    const line = file ? text.split("\n")[file.getLineAndCharacterOfPosition(start).line] : "";
    return `${ts.flattenDiagnosticMessageText(messageText, " ")} at ${line.trim()}`;
  });
}

const mistakes = [...(await Promise.all(objects.map(schemaMistakes))).flat(), ...typeMistakes()];
for (const mistake of mistakes) console.log(mistake);
process.exitCode = mistakes.length > 0 ? 1 : 0;
