// A zip file whose entries are stored, not compressed: PKWARE's APPNOTE, 4.3. Names are UTF-8.

const TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let c = i;
  for (let bit = 0; bit < 8; ++bit) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

async function crcOf(blob) {
  let crc = ~0;
  const reader = blob.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ~crc >>> 0;
    for (const byte of value) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  }
}

function record(size, fields) {
  const view = new DataView(new ArrayBuffer(size));
  for (const [at, bytes, value] of fields) bytes === 2 ? view.setUint16(at, value, true) : view.setUint32(at, value, true);
  return view.buffer;
}

// What both headers of an entry have, from `at` on: version, flags (names are UTF-8), method, time (1980-01-01), sum, sizes.
function common(at, entry) {
  return [
    [at, 2, 20],
    [at + 2, 2, 0x800],
    [at + 8, 2, 0x21],
    [at + 10, 4, entry.crc],
    [at + 14, 4, entry.blob.size],
    [at + 18, 4, entry.blob.size],
    [at + 22, 2, entry.name.length],
  ];
}

// A Blob of [[name, { blob }]]. Throws an Error above 4 GB, which this form of zip cannot hold.
export async function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [path, { blob }] of files) {
    const entry = { name: new TextEncoder().encode(path), blob, crc: await crcOf(blob), at };
    const header = record(30, [[0, 4, 0x04034b50], ...common(4, entry)]);
    parts.push(header, entry.name, blob);
    at += 30 + entry.name.length + blob.size;
    directory.push(entry);
  }
  const begin = at;
  for (const entry of directory) {
    const header = record(46, [[0, 4, 0x02014b50], [4, 2, 20], ...common(6, entry), [42, 4, entry.at]]);
    parts.push(header, entry.name);
    at += 46 + entry.name.length;
  }
  if (at >= 2 ** 32 || directory.length >= 65535) {
    throw new Error("more than 4 GB, or 65,535 files, in one zip file; download the files one by one");
  }
  parts.push(
    record(22, [
      [0, 4, 0x06054b50],
      [8, 2, directory.length],
      [10, 2, directory.length],
      [12, 4, at - begin],
      [16, 4, begin],
    ]),
  );
  return new Blob(parts, { type: "application/zip" });
}
