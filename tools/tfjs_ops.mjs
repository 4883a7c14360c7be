// Prints facts/tfjs-ops.json: the ops of graph models that TensorFlow.js executes, with the attributes that it reads,
// from the op lists of the npm package @tensorflow/tfjs-converter.
//
//   node tools/tfjs_ops.mjs NODE_MODULES/@tensorflow/tfjs-converter > facts/tfjs-ops.json
//
// An op is [name, attributes, names of results]; an attribute that tf.js does not name is one that it does not read.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const root = process.argv[2];
const version = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version;
const folder = path.join(root, 'dist/operations/op_list');
const ops = new Map();
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.js')).sort()) {
  const text = fs.readFileSync(path.join(folder, file), 'utf8');
  const module = await import(`data:text/javascript,${encodeURIComponent(text.replace(/\/\/# sourceMappingURL.*/, ''))}`);
  for (const op of module.json) {
    const attrs = (op.attrs ?? []).filter((attr) => !attr.notSupported)
      .flatMap((attr) => [attr.tfName, attr.tfDeprecatedName]).filter(Boolean);
    ops.set(op.tfOpName, [op.tfOpName, [...new Set(attrs)].sort(), op.outputs ?? []]);
  }
}
const lines = [...ops.values()].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map((op) => JSON.stringify(op));
process.stdout.write(`{\n"source": "@tensorflow/tfjs-converter ${version}",\n"ops": [\n${lines.join(',\n')}\n]\n}\n`);
