// A file that a run wrote. The browser copies a Blob to another process: there is one when somebody wants it.
export class WrittenFile {
  // parts: bytes and Blobs
  constructor(parts) {
    this.parts = parts;
  }

  get size() {
    return this.parts.reduce((sum, part) => sum + (part.size ?? part.byteLength), 0);
  }

  get blob() {
    if (!(this.parts[0] instanceof Blob)) this.parts = [new Blob(this.parts)];
    return this.parts[0];
  }

  async text() {
    if (this.parts[0] instanceof Blob) return this.blob.text();
    const decoder = new TextDecoder();
    return this.parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  }
}
