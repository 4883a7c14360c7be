/** What a file is given as. Blob and File: in workers only, where slices of them can be read at once. */
export type FileContent = Uint8Array | ArrayBuffer | ArrayBufferView | string | Blob;

export interface RunOptions {
  /** The files that the program may read, by their paths below "/". */
  files?: Record<string, FileContent> | Map<string, FileContent> | MemoryFiles;
  /** What stdin gives. */
  stdin?: string | Uint8Array;
  /** Whether the program prints its progress to stderr, as it does on a terminal. */
  progress?: boolean;
  /** Called with the text of stderr as it comes. */
  onError?: (text: string) => void;
  env?: Record<string, string>;
}

/** The files that a run wrote. */
export interface WrittenFiles {
  readonly names: string[];
  has(name: string): boolean;
  bytes(name: string): Uint8Array;
  text(name: string): string;
  blob(name: string, type?: string): Blob;
}

export interface RunResult {
  /** 0 done; 1 cannot be converted, or differs; 2 wrong usage; 3 malformed input; 4 the system failed. */
  code: number;
  stdout: string;
  stderr: string;
  stdoutBytes: Uint8Array;
  files: WrittenFiles;
}

export type ModuleSource = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

export class X2ir {
  constructor(module: WebAssembly.Module);
  static load(source: ModuleSource): Promise<X2ir>;
  /** Makes the instance of the next run now, so that this run begins at once. */
  prepare(): void;
  /** Runs a command line, without the program's name, to its end. */
  run(args: string[], options?: RunOptions): RunResult;
}

/** Files in memory. Several runs can share them. */
export class MemoryFiles {
  add(path: string, content: FileContent): void;
}

export function compile(source?: ModuleSource): Promise<WebAssembly.Module>;

/** Node only: the module of this package. */
export function load(source?: ModuleSource): Promise<X2ir>;

/** Node only: runs the program on the machine's files and the process's streams: its exit code. */
export function runHere(args: string[]): Promise<number>;
