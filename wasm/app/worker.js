// One run of the program, in a worker of its own: its end, or the end of the worker, frees all memory.
import { MemoryFiles, X2ir } from "../js/x2ir.mjs";

// Keeps what was asked for and is not there, so that the page can ask for it by name.
class GivenFiles extends MemoryFiles {
  missing = new Set();

  find(path, orNull = false) {
    try {
      const node = super.find(path, orNull);
      if (!node) this.missing.add(path);
      return node;
    } catch (error) {
      if (error.code === "ENOENT") this.missing.add(path);
      throw error;
    }
  }
}

// { module, args, files: [[path, File or Blob]] }
onmessage = ({ data: { module, args, files } }) => {
  try {
    const memory = new GivenFiles();
    for (const folder of ["/models", "/other", "/converted", "/out", "/report"]) memory.makeFolder(folder);
    for (const [path, content] of files) memory.add(path, content);
    memory.missing.clear();
    const run = new X2ir(module).run(args, {
      files: memory,
      progress: true,
      onError: (text) => postMessage({ progress: text }),
      env: { PWD: "/models" },
    });
    postMessage({
      done: {
        code: run.code,
        stdout: run.stdout,
        stderr: run.stderr,
        files: run.files.names.map((name) => [`/${name}`, run.files.blob(name)]),
        missing: [...memory.missing],
      },
    });
  } catch (error) {
    postMessage({ failed: String(error?.message ?? error) });
  }
};
