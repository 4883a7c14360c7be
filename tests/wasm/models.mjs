// The models below folders and in archives, for tests that run over many.

import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const kModels = new RegExp('\\.(onnx|onnxtxt|pt2|pt|ptl|pth|torchscript|tflite|lite|h5|keras|pb|pbtxt|pdmodel|mlmodel|' +
                           'mlirbc|mlir|ort|gguf|nnef|tgz|tar|cfg|prototxt|params|json|param|weights)$');
const kModelFolders = ['model.json', 'saved_model.pb', 'config.json', 'graph.nnef', '__model__', 'model.mlir', 'Manifest.json'];

/** The models in a folder: files by their endings, and folders by what is in them. */
export function* modelsIn(folder) {
  const entries = fs.readdirSync(folder, {withFileTypes: true}).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (entries.some(entry => kModelFolders.includes(entry.name))) yield folder;
  for (const entry of entries) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* modelsIn(at);
    else if (entry.isFile() && kModels.test(entry.name)) yield at;
  }
}

/** Calls visit(folder) with each place: a folder, or what is in a .tar.xz file. */
export function eachPlace(places, temporary, visit) {
  for (const place of places) {
    if (!place.endsWith('.tar.xz')) {
      visit(place, path.basename(place));
      continue;
    }
    const folder = path.join(temporary, path.basename(place, '.tar.xz'));
    fs.mkdirSync(folder);
    const {status, stderr} = spawnSync('tar', ['-xJf', place, '-C', folder]);
    if (status !== 0) throw new Error(stderr.toString());
    visit(folder, path.basename(place));
    fs.rmSync(folder, {recursive: true});
  }
}
