import type { Connection, ConnectOptions } from '../../kube/connect.ts';
import type { Clock } from '../../kube/types.ts';
import type { NodeExecutorOptions } from '../../model/node-executor.ts';
import type { Executor } from '../../nodes/job.ts';
import type { Prompts } from './prompts/prompts.ts';

/** The part of a stream that commands write to. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  /** Size of a terminal. */
  columns?: number;
  rows?: number;
}

/** Standard output, which also takes the bytes of an archive. */
export interface DataOutput extends Output {
  write(data: string | Uint8Array): unknown;
}

/** The part of a stream that commands read. */
export interface Input extends AsyncIterable<Uint8Array> {
  isTTY?: boolean;
}

/** Environment of a command; a test provides its own. */
export interface Io {
  stdin: Input;
  /** Data, and nothing else. */
  stdout: DataOutput;
  /** Messages, questions and progress. */
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborts with a SignalError. */
  signal: AbortSignal;
  /** Calls the listener at each SIGHUP, which from then on does not end the process. */
  onHangup(listener: () => void): void;
  clock: Clock;
  connect(options: ConnectOptions): Promise<Connection>;
  /** Returns an executor for nodes. The caller closes it. */
  nodes(options: NodeExecutorOptions): Promise<Executor>;
  /** Set if `prompts` work without a terminal, as for the page of `stowage ui`. */
  asksElsewhere?: true;
  /** Returns the prompts. Call it only if `isInteractive` returns true. */
  prompts(): Promise<Prompts>;
}
