// Sizes that vary, in the bytes of a .tflite file: LiteRT's binding for pages runs a model at the sizes that `shape`
// states, and cannot resize. So the sizes are put into the file before it is loaded. `shape_signature`, which says what
// varies (-1), stays.

/** What is needed of a FlatBuffer: tables, their fields and vectors, by their places in the bytes. */
class FlatBuffer {
  constructor(bytes) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  follow(at) {
    return at + this.view.getUint32(at, true);
  }
  root() {
    return this.follow(0);
  }
  /** The place of a table's field, or 0 where it has none. */
  field(table, slot) {
    const vtable = table - this.view.getInt32(table, true);
    const place = 4 + 2 * slot;
    if (place >= this.view.getUint16(vtable, true)) return 0;
    const offset = this.view.getUint16(vtable + place, true);
    return offset ? table + offset : 0;
  }
  /** A field that is a vector of int32 or of offsets: the places of its elements. */
  vector(table, slot) {
    const field = this.field(table, slot);
    if (!field) return [];
    const at = this.follow(field);
    return Array.from({length: this.view.getUint32(at, true)}, (_, i) => at + 4 + 4 * i);
  }
  tables(table, slot) {
    return this.vector(table, slot).map((at) => this.follow(at));
  }
}

// Slots of the schema.
const MODEL = {subgraphs: 2}, SUBGRAPH = {tensors: 0, inputs: 1, outputs: 2}, TENSOR = {shape: 0, signature: 7};

/**
 * A copy of a file's bytes where the inputs of its first subgraph, and the outputs where they are given, have these
 * shapes. Throws where a size may not vary.
 */
export function withSizes(bytes, inputs, outputs) {
  const copy = new Uint8Array(bytes);
  const file = new FlatBuffer(copy);
  const graph = file.tables(file.root(), MODEL.subgraphs)[0];
  const tensors = file.tables(graph, SUBGRAPH.tensors);
  const set = (slot, shapes, what) => file.vector(graph, slot).forEach((at, i) => {
    const tensor = tensors[file.view.getInt32(at, true)];
    const sizes = file.vector(tensor, TENSOR.shape), signature = file.vector(tensor, TENSOR.signature);
    const wanted = shapes[i] ?? [];
    if (wanted.length !== sizes.length) throw new Error(`${what} ${i} has ${sizes.length} axes, not ${wanted.length}`);
    wanted.forEach((size, axis) => {
      if (file.view.getInt32(sizes[axis], true) === size) return;
      if (!signature.length || file.view.getInt32(signature[axis], true) !== -1) {
        throw new Error(`axis ${axis} of ${what} ${i} does not vary`);
      }
      file.view.setInt32(sizes[axis], size, true);
    });
  });
  set(SUBGRAPH.inputs, inputs, 'input');
  if (outputs) set(SUBGRAPH.outputs, outputs, 'output');
  return copy;
}
