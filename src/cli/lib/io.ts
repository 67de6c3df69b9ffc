import type { Connection, ConnectOptions } from '../../kube/connect.ts';
import type { Clock } from '../../kube/types.ts';
import type { NodeExecutorOptions } from '../../model/node-executor.ts';
import type { Executor } from '../../nodes/job.ts';
import type { Prompts } from './prompts/prompts.ts';

/** The part of a stream that commands write to. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  /** Of a terminal. */
  columns?: number;
  rows?: number;
}

/** The part of a stream that commands read. */
export interface Input extends AsyncIterable<Uint8Array> {
  isTTY?: boolean;
}

/** What a command has to do with the world outside: a test gives its own. */
export interface Io {
  stdin: Input;
  /** Data, and nothing else. */
  stdout: Output;
  /** Messages, questions and progress. */
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborts with a SignalError. */
  signal: AbortSignal;
  /** Calls back at each SIGHUP, which ends nothing from then on. */
  onHangup(listener: () => void): void;
  clock: Clock;
  connect(options: ConnectOptions): Promise<Connection>;
  /** Hands on nodes; whoever asked for them closes them. */
  nodes(options: NodeExecutorOptions): Promise<Executor>;
  /** For who has asked `isInteractive` first. */
  prompts(): Promise<Prompts>;
}
